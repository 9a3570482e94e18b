"""Compares a record with its raw files, or checks the identities of a typed table."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cuesta import __version__
from cuesta.analysis.sql_rows import why_unread
from cuesta.errors import CuestaError, InputError
from cuesta.ledger.certification import SIGNATURE, SpoiltError, hashes, is_certification, open_certification
from cuesta.ledger.historical import is_historical, read_historical, read_toml
from cuesta.ledger.signature import find_signer, list_misfits
from cuesta.units import many

if TYPE_CHECKING:
    from cuesta.analysis.history.identities import DocumentCheck

SPOILT_FILE_ERRORS = (LookupError, ValueError, TypeError, AttributeError, ArithmeticError, OSError)
"""Errors that deriving figures may raise if a raw file was changed."""


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a certification, a run folder or a typed table agrees with its own raw data."""

    what: Path
    wrong: Sequence[str]
    """What does not agree, a sentence each."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further entries of the object that `--json` prints."""
    findings: str = ""
    """The text of a typed table's findings."""

    @property
    def ok(self) -> bool:
        return not self.wrong

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {"what": str(self.what), "ok": self.ok, "wrong": list(self.wrong), **self.facts}

    def text(self) -> str:
        """The result for a terminal."""
        if self.findings:
            return self.findings
        word = "VERIFIED" if self.ok else "NOT VERIFIED"
        return "\n".join([f"{word}  {self.what}", *(f"  {row}" for row in self._rows())])

    def _rows(self) -> Iterator[str]:
        yield from (f"- {each}" for each in self.wrong)
        facts = self.facts
        if self.ok and "files" in facts:
            yield f"{facts['files']} raw files are as they were hashed, and all figures were derived from them again;"
            yield "record.html and the runs' summaries can be made again, and were not checked"
            yield f"{facts['grade']}: {many(facts['runs'], 'run')} counted, {facts['excluded']} did not"
        elif self.ok and "compared" in facts:
            yield f"{facts['compared']} values of summary.json are those derived from the records again"
        elif (writer := facts.get("written_by", __version__)) != __version__:
            yield f"it was written by cuesta {writer}, whose formulas may differ from those of {__version__}"
        if facts.get("signed_by"):
            yield f"signed by {facts['signed_by']}"
        elif self.ok and facts.get("signature"):
            yield "it is signed, by whom is not known: --signers FILE says who may have"


def verify_all(what: Path, signers: Path | None) -> list[Verification]:
    """Verify a certification (or several), a run folder, or a typed table."""
    return [verify(one, signers) for one in ([what] if what.is_file() else list_folders(what))]


def list_folders(folder: Path) -> list[Path]:
    """The folders to verify: this one, or the certifications of groups in it."""
    if is_certification(folder) or (folder / "run.json").is_file():
        return [folder]
    inside = sorted(path for path in folder.glob("*") if is_certification(path))
    if not inside:
        raise InputError(
            f"{folder}: neither a certification nor a run", "give a folder with certification.json or run.json"
        )
    return inside


def verify(what: Path, signers: Path | None) -> Verification:
    if what.is_file():
        return verify_table(what)
    return verify_certification(what, signers) if is_certification(what) else verify_run(what)


def verify_certification(folder: Path, signers: Path | None) -> Verification:
    """Compare a certification's hashes with its files, then its figures with new ones derived from the files."""
    from cuesta.analysis.certify.agreement import list_differing_files, list_disagreements, read_hashes  # noqa: PLC0415
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415

    try:
        opened = open_certification(folder)
    except SpoiltError as error:
        return Verification(folder, [str(error)])
    facts: dict[str, object] = {"files": len(read_hashes(opened.record or {})), "written_by": opened.given.cuesta}
    try:
        derived = derive_record(opened)
        wrong = list_disagreements(opened, derived)
        facts |= {"grade": derived.grade, "runs": derived.method.runs, "excluded": len(derived.method.excluded)}
    except (CuestaError, *SPOILT_FILE_ERRORS) as error:
        wrong = list_differing_files(opened, hashes(opened)) if opened.record else []
        wrong.append(f"the figures cannot be derived: {why_unread(error)}")
    if opened.record is None:
        return Verification(folder, wrong, facts)
    by, faults = check_signature(folder, signers)
    signature = {"signature": (folder / SIGNATURE).exists(), "signed_by": by}
    return Verification(folder, [*wrong, *faults], {**signature, **facts})


def check_signature(folder: Path, signers: Path | None) -> tuple[str | None, list[str]]:
    """The signer, if `signers` names who may sign, and what is wrong with the signature."""
    try:
        if signers:
            return find_signer(folder, signers), []
        return None, list_misfits(folder)
    except CuestaError as error:
        return None, [str(error)]


def verify_run(folder: Path) -> Verification:
    """Compare a run's summary, and the hashes of its tapes, with its records."""
    from cuesta.analysis.certify.agreement import check_summary  # noqa: PLC0415
    from cuesta.analysis.summary import summarise  # noqa: PLC0415

    summary = summarise(folder)
    try:
        recorded = json.loads((folder / "summary.json").read_bytes())
    except (OSError, ValueError) as error:
        return Verification(folder, [f"summary.json: cannot be read: {error}"])
    if not isinstance(recorded, dict):
        return Verification(folder, ["summary.json: it is no JSON object"])
    check = check_summary(json.loads(json.dumps(summary.json())), recorded)
    return Verification(folder, [*summary.recorded.damage, *check.wrong], {"compared": check.compared})


def verify_table(file: Path) -> Verification:
    """Check the identities of a table typed from a document."""
    from cuesta.analysis.history.identities import check_document  # noqa: PLC0415
    from cuesta.report import identities  # noqa: PLC0415

    if not is_historical(file):
        raise _untyped(file)
    result = check_document(read_historical(file))
    wrong = [f"{each.name}: {each.verdict.value}" for each in result.unexplained]
    return Verification(file, wrong, identities.data(result), identities.text(result))


def check_tables(places: Sequence[Path]) -> list["DocumentCheck"]:
    """Check the identities of typed tables, in files or in folders and below them. Raises InputError without any."""
    from cuesta.analysis.history.identities import check_document  # noqa: PLC0415

    return [check_document(read_historical(file)) for place in places for file in _list_tables(place)]


def _list_tables(place: Path) -> list[Path]:
    if place.is_dir():
        files = [file for file in sorted(place.rglob("*.toml")) if is_historical(file)]
    else:
        files = [place] if "identity" in read_toml(place) else []
    if not files:
        raise _untyped(place)
    return files


def _untyped(place: Path) -> InputError:
    return InputError(
        f"{place}: not a table typed from a document", "such a file contains [[identity]]: docs/ledger.md"
    )
