"""Compares a record with its raw files, or checks the identities of a typed table."""

import json
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.analysis.sql_rows import why_unread
from cuesta.errors import CuestaError, InputError
from cuesta.ledger.certification import SIGNATURE, SpoiltError, hashes, is_certification, open_certification
from cuesta.ledger.historical import is_historical, read_historical
from cuesta.ledger.signature import find_signer, list_misfits
from cuesta.units import many

SPOILT_FILE_ERRORS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, OSError)
"""Errors that deriving figures may raise if a raw file was changed."""


def verify_all(what: Path, signers: Path | None) -> list[dict[str, Any]]:
    """Verify a certification (or several), a run folder, or a typed table: for each `ok`, and `wrong` if it is not."""
    return [verify(one, signers) for one in ([what] if what.is_file() else folders(what))]


def folders(folder: Path) -> list[Path]:
    """The folders to verify: this one, or the certifications of groups in it."""
    if is_certification(folder) or (folder / "run.json").is_file():
        return [folder]
    inside = sorted(path for path in folder.glob("*") if is_certification(path))
    if not inside:
        raise InputError(
            f"{folder}: neither a certification nor a run", "give a folder with certification.json or run.json"
        )
    return inside


def verify(what: Path, signers: Path | None) -> dict[str, Any]:
    if what.is_file():
        return table(what)
    return certification(what, signers) if is_certification(what) else run(what)


def certification(folder: Path, signers: Path | None) -> dict[str, Any]:
    """Compare a certification's hashes with its files, then its figures with new ones derived from the files."""
    from cuesta.analysis.certify.agreement import list_differing_files, list_disagreements, read_hashes  # noqa: PLC0415
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415

    try:
        opened = open_certification(folder)
    except SpoiltError as error:
        return answer(folder, [str(error)])
    more: dict[str, object] = {"files": len(read_hashes(opened.record or {})), "written_by": opened.given.cuesta}
    try:
        derived = derive_record(opened)
        wrong = list_disagreements(opened, derived)
        more |= {"grade": derived.grade, "runs": derived.method.runs, "excluded": len(derived.method.excluded)}
    except (CuestaError, *SPOILT_FILE_ERRORS) as error:
        wrong = list_differing_files(opened, hashes(opened)) if opened.record else []
        wrong.append(f"the figures cannot be derived: {why_unread(error)}")
    if opened.record is None:
        return answer(folder, wrong, **more)
    by, faults = check_signature(folder, signers)
    return answer(folder, [*wrong, *faults], signature=(folder / SIGNATURE).exists(), signed_by=by, **more)


def check_signature(folder: Path, signers: Path | None) -> tuple[str | None, list[str]]:
    """The signer, if `signers` names who may sign, and what is wrong with the signature."""
    try:
        if signers:
            return find_signer(folder, signers), []
        return None, list_misfits(folder)
    except CuestaError as error:
        return None, [str(error)]


def run(folder: Path) -> dict[str, Any]:
    """Compare a run's summary, and the hashes of its tapes, with its records."""
    from cuesta.analysis.certify.agreement import check_summary  # noqa: PLC0415
    from cuesta.analysis.summary import summarise  # noqa: PLC0415

    summary = summarise(folder)
    try:
        recorded = json.loads((folder / "summary.json").read_bytes())
    except (OSError, ValueError) as error:
        return answer(folder, [f"summary.json: cannot be read: {error}"])
    if not isinstance(recorded, dict):
        return answer(folder, ["summary.json: it is no JSON object"])
    check = check_summary(json.loads(json.dumps(summary.json())), recorded)
    return answer(folder, [*summary.recorded.damage, *check.wrong], compared=check.compared)


def table(file: Path) -> dict[str, Any]:
    """Check the identities of a table typed from a document."""
    from cuesta.analysis.history.identities import check_document  # noqa: PLC0415
    from cuesta.report import identities  # noqa: PLC0415

    if not is_historical(file):
        raise InputError(
            f"{file}: not a table typed from a document", "such a file contains [[identity]]: docs/ledger.md"
        )
    result = check_document(read_historical(file))
    wrong = [f"{each.name}: {each.verdict.value}" for each in result.unexplained]
    return answer(file, wrong, text=identities.text(result), **identities.data(result))


def answer(what: Path, wrong: list[str], **more: object) -> dict[str, Any]:
    return {"what": str(what), "ok": not wrong, "wrong": wrong, **more}


def text(result: dict[str, Any]) -> list[str]:
    if "text" in result:
        return [result.pop("text")]
    word = "VERIFIED" if result["ok"] else "NOT VERIFIED"
    rows = [f"{word}  {result['what']}", *(f"  - {each}" for each in result["wrong"])]
    if result["ok"] and "files" in result:
        rows.append(
            f"  {result['files']} raw files are as they were hashed, and all figures were derived from them again;"
        )
        rows.append("  record.html and the runs' summaries can be made again, and were not checked")
        rows.append(f"  {result['grade']}: {many(result['runs'], 'run')} counted, {result['excluded']} did not")
    elif result["ok"] and "compared" in result:
        rows.append(f"  {result['compared']} values of summary.json are those derived from the records again")
    elif result.get("written_by", __version__) != __version__:
        rows.append(
            f"  it was written by cuesta {result['written_by']}, whose formulas may differ from those of {__version__}"
        )
    if result.get("signed_by"):
        rows.append(f"  signed by {result['signed_by']}")
    elif result["ok"] and result.get("signature"):
        rows.append("  it is signed, by whom is not known: --signers FILE says who may have")
    return rows
