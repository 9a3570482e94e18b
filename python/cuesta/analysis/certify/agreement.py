"""Whether a certification's `record.json` agrees with its raw files: each hash and each figure.

What can be made again (`record.html`, the runs' summaries) is not held against anything: it is no evidence.
"""

import json
from collections.abc import Iterator
from typing import Any

from cuesta.ledger.certification import RECORD, Certification, strangers, written
from cuesta.ledger.record import Record

LONGEST = 120
"""Characters of a value that are shown."""
RESOLUTION = 1e-9
"""Relative difference that two computations of a figure may have."""


def disagreements(certification: Certification, derived: Record) -> list[str]:
    """Say where a certification does not agree with itself, a row each; empty if it does."""
    if certification.record is None:
        return [f"{RECORD}: is missing: cuesta certify {certification.folder} derives it"]
    return [*of_files(certification, derived.raw), *of_figures(derived, certification.record)]


def of_files(certification: Certification, found: dict[str, str]) -> list[str]:
    """Say which files are not as they were hashed, by the hashes that were found now."""
    recorded = hashes_in(certification.record or {})
    changed = [name for name in found if name in recorded and recorded[name] != found[name]]
    wrong = [f"{name}: its SHA-256 is not the recorded one" for name in changed]
    wrong += [
        f"{name}: is in the folder and not in the record"
        for name in [*found, *strangers(certification)]
        if name not in recorded
    ]
    for name in (name for name in recorded if name not in found):
        there = (certification.folder / name).is_file()
        wrong.append(f"{name}: is of no run any more" if there else f"{name}: is in the record and not in the folder")
    text = (certification.folder / RECORD).read_text(encoding="utf-8", errors="replace")
    return (
        wrong if text == written(certification.record or {}) else [*wrong, f"{RECORD}: it is not as cuesta writes it"]
    )


def hashes_in(record: dict[str, Any]) -> dict[str, Any]:
    """Give the hashes that a record says; none if it says something else there."""
    raw = record.get("raw")
    return raw if isinstance(raw, dict) else {}


def of_figures(derived: Record, recorded: dict[str, Any]) -> list[str]:
    """Say which figures are not those derived now; hashes are told of by `of_files`."""
    return [each for each in differences(derived, recorded) if not each.startswith("raw")]


def differences(derived: Record, recorded: dict[str, Any]) -> list[str]:
    """Say where `record.json` differs from what its raw files give, a row each."""
    return list(unlike(derived.model_dump(mode="json"), recorded, ""))


def unlike(derived: Any, recorded: Any, place: str) -> Iterator[str]:
    """Compare two values of JSON."""
    if isinstance(derived, dict) and isinstance(recorded, dict):
        for name in [*derived, *(name for name in recorded if name not in derived)]:
            at = f"{place}.{name}" if place else name
            if name not in recorded:
                yield f"{at}: is missing in the record"
            elif name not in derived:
                yield f"{at}: is in the record, and cannot be derived"
            else:
                yield from unlike(derived[name], recorded[name], at)
    elif isinstance(derived, list) and isinstance(recorded, list) and len(derived) == len(recorded):
        for number, (one, other) in enumerate(zip(derived, recorded, strict=True)):
            yield from unlike(one, other, f"{place}[{number}]")
    elif not same(derived, recorded):
        yield f"{place}: the record says {shown(recorded)}, the raw files give {shown(derived)}"


def shown(value: Any) -> str:
    """Write a value of JSON, short."""
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def same(one: Any, other: Any) -> bool:
    """Say whether two plain values are the same; two computations of a number may differ in its last digit."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (one, other))
    if numbers:
        return bool(abs(one - other) <= RESOLUTION * max(abs(one), abs(other)))
    return type(one) is type(other) and bool(one == other)
