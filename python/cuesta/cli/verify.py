"""`cuesta certify --verify`: what a record says, held against its raw files; or a typed table, against itself."""

import json
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.cli.output import say, write_json
from cuesta.errors import CuestaError, Exit, InputError
from cuesta.ledger.certification import RECORD, SIGNATURE, hashes, is_certification, open_certification, written
from cuesta.ledger.historical import is_historical, read_historical
from cuesta.ledger.signature import signer

OF_SPOILT_FILES = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, OSError)
"""What deriving figures may raise when a raw file is not what a run wrote."""


def carry_out(what: Path, signers: Path | None, json_where: str | None) -> int:
    """Verify a certification (or several), a run folder, or a typed table; exit 1 if something is wrong."""
    found = [verified(one, signers) for one in ([what] if what.is_file() else folders(what))]
    for each in found:
        say("\n".join(told(each)), json_where)
    write_json(json_where, found[0] if len(found) == 1 else {"verified": found})
    return Exit.GOOD if all(each["ok"] for each in found) else Exit.FAILED


def folders(folder: Path) -> list[Path]:
    """Give the folders to be verified: this one, or the certifications of a plan's groups right in it."""
    if is_certification(folder) or (folder / "run.json").is_file():
        return [folder]
    inside = sorted(path for path in folder.glob("*") if is_certification(path))
    if not inside:
        raise InputError(
            f"{folder}: neither a certification nor a run", "give a folder with certification.json or run.json"
        )
    return inside


def verified(what: Path, signers: Path | None) -> dict[str, Any]:
    """Hold one thing against itself."""
    if what.is_file():
        return table(what)
    return certification(what, signers) if is_certification(what) else run(what)


def certification(folder: Path, signers: Path | None) -> dict[str, Any]:
    """Hold a certification's hashes against its files, then its figures against those derived of them."""
    from cuesta.analysis.certification import derive, differences  # noqa: PLC0415

    opened = open_certification(folder)
    if opened.record is None:
        return answer(folder, [f"{RECORD}: is missing: cuesta certify {folder} derives it"])
    recorded = opened.record.get("raw")
    recorded = recorded if isinstance(recorded, dict) else {}
    wrong = unlike_files(recorded, hashes(opened))
    if (folder / RECORD).read_text(encoding="utf-8", errors="replace") != written(opened.record):
        wrong.append(f"{RECORD}: it is not as cuesta writes it")
    try:
        found = differences(derive(opened), opened.record)
        wrong += [each for each in found if not each.startswith("raw")]  # said already
    except (CuestaError, *OF_SPOILT_FILES) as error:
        wrong.append(f"the figures cannot be derived: {type(error).__name__}: {error}")
    signed = None
    if signers:
        try:
            signed = signer(folder, signers)
        except CuestaError as error:
            wrong.append(str(error))
    signature = (folder / SIGNATURE).exists()
    return answer(
        folder, wrong, files=len(recorded), written_by=opened.given.cuesta, signed_by=signed, signature=signature
    )


def unlike_files(recorded: dict[str, str], found: dict[str, str]) -> list[str]:
    """Say which raw files are not as they were hashed."""
    changed = [
        f"{name}: its SHA-256 is not the recorded one" for name in found if recorded.get(name, "") != found[name]
    ]
    return [*changed, *(f"{name}: is in the record and not in the folder" for name in recorded if name not in found)]


def run(folder: Path) -> dict[str, Any]:
    """Hold a run's summary and its tapes' hashes against its records."""
    from cuesta.analysis.certification import unlike  # noqa: PLC0415
    from cuesta.analysis.summary import summarise  # noqa: PLC0415

    summary = summarise(folder)
    try:
        recorded = json.loads((folder / "summary.json").read_bytes())
    except (OSError, ValueError) as error:
        return answer(folder, [f"summary.json: cannot be read: {error}"])
    derived = json.loads(json.dumps(summary.json()))
    derived.pop("run_folder"), recorded.pop("run_folder", None)
    return answer(folder, [*summary.recorded.damage, *unlike(derived, recorded, "summary")])


def table(file: Path) -> dict[str, Any]:
    """Hold a table typed from a document against itself."""
    from cuesta.analysis.identities import check  # noqa: PLC0415
    from cuesta.report import identities  # noqa: PLC0415

    if not is_historical(file):
        raise InputError(f"{file}: no table typed from a document", "it has identities in it: docs/ledger.md")
    checked = check(read_historical(file))
    wrong = [f"{each.name}: {each.verdict.value}" for each in checked.wanting]
    return answer(file, wrong, text=identities.text(checked), **identities.data(checked))


def answer(what: Path, wrong: list[str], **more: object) -> dict[str, Any]:
    """Give what came of it."""
    return {"what": str(what), "ok": not wrong, "wrong": wrong, **more}


def told(found: dict[str, Any]) -> list[str]:
    """Say it."""
    if "text" in found:
        return [found.pop("text")]
    word = "VERIFIED" if found["ok"] else "NOT VERIFIED"
    rows = [f"{word}  {found['what']}", *(f"  - {each}" for each in found["wrong"])]
    if found["ok"] and "files" in found:
        rows.append(f"  {found['files']} raw files are as they were hashed, and all figures were derived of them again")
    elif found.get("written_by", __version__) != __version__:
        rows.append(
            f"  it was written by cuesta {found['written_by']}, which may have reckoned otherwise than {__version__}"
        )
    if found.get("signed_by"):
        rows.append(f"  signed by {found['signed_by']}")
    elif found.get("signature"):
        rows.append("  it is signed; --signers FILE says who may have")
    return rows
