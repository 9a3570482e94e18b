"""Compares a certification's `record.json` with its raw files: each hash and each figure.

Files that can be derived again (`record.html`, the runs' summaries) are no evidence and are not compared.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cuesta.figures.catalogue import list_sentences
from cuesta.figures.step import StepFigures
from cuesta.figures.whole_run import RunFigures
from cuesta.json_text import json_file_text
from cuesta.ledger.certification import RECORD, Certification, text_hash, unknown_files
from cuesta.ledger.record import Record

LONGEST = 120
"""At most this many characters of a value are shown."""
RESOLUTION = 1e-9
"""Relative difference that two computations of one figure may have."""


def list_disagreements(certification: Certification, derived: Record) -> list[str]:
    """Where a certification contradicts itself, a sentence each."""
    if certification.record is None:
        return [f"{RECORD}: is missing: cuesta certify {certification.folder} derives it"]
    figures = list_differing_figures(derived, certification.record, {"raw", "sha256"})
    return [*list_differing_files(certification, derived.raw), *figures]


def list_differing_files(certification: Certification, hashes: dict[str, str]) -> list[str]:
    """Files that are missing, new, or whose hash, now in `hashes`, differs from the recorded one."""
    recorded = read_hashes(certification.record or {})
    changed = [name for name in hashes if name in recorded and recorded[name] != hashes[name]]
    wrong = [f"{name}: its SHA-256 is not the recorded one" for name in changed]
    wrong += [
        f"{name}: is in the folder and not in the record"
        for name in [*hashes, *unknown_files(certification)]
        if name not in recorded
    ]
    for name in (name for name in recorded if name not in hashes):
        exists = (certification.folder / name).is_file()
        wrong.append(f"{name}: is of no run any more" if exists else f"{name}: is in the record and not in the folder")
    record = certification.record or {}
    text = (certification.folder / RECORD).read_text(encoding="utf-8", errors="replace")
    if text != json_file_text(record):
        wrong.append(f"{RECORD}: it is not as cuesta writes it")
    elif "sha256" in record and record["sha256"] != text_hash(record):
        wrong.append(f"{RECORD}: its text is not the one that cuesta wrote: its SHA-256 differs")
    return wrong


def read_hashes(record: dict[str, Any]) -> dict[str, Any]:
    raw = record.get("raw")
    return raw if isinstance(raw, dict) else {}


def list_differing_figures(derived: Record, recorded: dict[str, Any], excluded: set[str]) -> list[str]:
    """Where `record.json`, but for excluded members and for sentences, differs from the record derived now."""
    figures = {name: value for name, value in recorded.items() if name not in excluded}
    now = derived.model_dump(mode="json", exclude=excluded)
    return list(
        list_differing_values(strip_members(now, RECORD_SENTENCES), strip_members(figures, RECORD_SENTENCES), "")
    )


RECORD_SENTENCES = frozenset(
    ["why", "because", "warnings", "said", "excluded", "untraced", "settled", "cut", "metered", "honesty", "formula"]
)
"""Members of `record.json` with sentences, whose words change from version to version; its own hash guards them."""


def strip_members(value: Any, names: frozenset[str]) -> Any:
    """A copy of a JSON value in which members of these names are replaced by whether they have content."""
    if isinstance(value, dict):
        return {name: bool(each) if name in names else strip_members(each, names) for name, each in value.items()}
    return [strip_members(each, names) for each in value] if isinstance(value, list) else value


def list_differing_values(derived: Any, recorded: Any, place: str) -> Iterator[str]:
    if isinstance(derived, dict) and isinstance(recorded, dict):
        for name in [*derived, *(name for name in recorded if name not in derived)]:
            at = f"{place}.{name}" if place else name
            if name not in recorded:
                yield f"{at}: is missing in the record"
            elif name not in derived:
                yield f"{at}: is in the record, and cannot be derived"
            else:
                yield from list_differing_values(derived[name], recorded[name], at)
    elif isinstance(derived, list) and isinstance(recorded, list) and len(derived) == len(recorded):
        for number, (one, other) in enumerate(zip(derived, recorded, strict=True)):
            yield from list_differing_values(one, other, f"{place}[{number}]")
    elif not is_equal(derived, recorded):
        yield f"{place}: the record says {shorten_json(recorded)}, the raw files give {shorten_json(derived)}"


@dataclass(frozen=True, slots=True)
class SummaryCheck:
    """A run's `summary.json` against the figures derived from its records."""

    wrong: list[str]
    compared: int
    """Values that both have. Those that the summary lacks are of a newer version than it."""


def check_summary(derived: dict[str, Any], recorded: dict[str, Any]) -> SummaryCheck:
    """Compare the values that `summary.json` states; sentences are left out."""
    stated, values = select_stated_values(derived, recorded), select_stated_values(recorded, recorded)
    wrong = list(list_differing_values(stated, values, "summary"))
    compared = count_leaves(stated)
    return SummaryCheck(wrong if compared else ["summary.json: it has no figures"], compared)


SENTENCES = frozenset([*list_sentences(RunFigures), *list_sentences(StepFigures), "run_folder"])
"""Members of `summary.json` that `check_summary` leaves out."""


def select_stated_values(value: Any, recorded: Any) -> Any:
    """A copy without members that `recorded` lacks, and without sentences."""
    if isinstance(value, dict) and isinstance(recorded, dict):
        names = (name for name in value if name in recorded and name not in SENTENCES)
        return {name: select_stated_values(value[name], recorded[name]) for name in names}
    if isinstance(value, list) and isinstance(recorded, list) and len(value) == len(recorded):
        return [select_stated_values(one, other) for one, other in zip(value, recorded, strict=True)]
    return value


def count_leaves(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 1 if inner is None else sum(map(count_leaves, inner))


def shorten_json(value: Any) -> str:
    text = "nothing" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def is_equal(one: Any, other: Any) -> bool:
    """Equality; of numbers within RESOLUTION."""
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (one, other))
    if numbers:
        return bool(abs(one - other) <= RESOLUTION * max(abs(one), abs(other)))
    return type(one) is type(other) and bool(one == other)
