"""Lists certified systems and planned improvements: folders → records → a ledger for each workload."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.analysis.certify.agreement import list_disagreements
from cuesta.analysis.certify.record import derive_record
from cuesta.analysis.history.ledgers import CertifiedSystem, build_ledgers
from cuesta.analysis.history.projection import Ledger
from cuesta.analysis.sql_rows import why_unread
from cuesta.errors import InputError, UsageError
from cuesta.ledger.certification import Certification, open_certification
from cuesta.ledger.discover import discover
from cuesta.ledger.goals import read_goals
from cuesta.ledger.record import Record
from cuesta.ledger.signature import list_misfits
from cuesta.report import ledger as report


@dataclass(frozen=True, slots=True)
class SystemList:
    """The certified systems below some folders."""

    ledgers: Sequence[Ledger]
    unread: Sequence[str]
    """Certifications that could not be read, each with the reason."""

    def text(self) -> str:
        """The ledgers for a terminal."""
        return "\n\n\n".join([*map(report.text, self.ledgers), *(f"left out: {each}" for each in self.unread)])

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        return {"ledgers": [report.data(each) for each in self.ledgers], "left_out": list(self.unread)}


def list_systems(places: Sequence[Path], base: str | None, goal: float | None) -> SystemList:
    """List what is in folders and below them. `base` is the system that others are compared with, by name or folder.

    Raises InputError if there is nothing, or no such system; UsageError for a `goal` without a file of goals.
    """
    folders = discover(places)
    systems, unread = list[CertifiedSystem](), list[str]()
    for folder in folders.certifications:
        try:
            certification = open_certification(folder)
            record = derive_record(certification)
            original = next((each.folder for each in systems if each.record.id == record.id), None)
            systems.append(CertifiedSystem(str(folder), record, _doubt(certification, record, original)))
        except Exception as error:  # whatever is wrong with one folder, list the others
            unread.append(f"{folder}: {why_unread(error)}")
    ledgers = list(build_ledgers([read_goals(file) for file in folders.goals], systems, base, goal))
    if not ledgers and not unread:
        raise InputError(
            f"{', '.join(map(str, places))}: there is no certification and no file of goals",
            "`cuesta certify PLAN` makes one; docs/ledger.md shows a file of goals; --sql asks about runs",
        )
    if goal is not None and not folders.goals:
        raise UsageError("cuesta ledger: --goal needs a file of goals, and there is none", "docs/ledger.md shows one")
    bases = (each.base for each in ledgers if each.base)
    if base and not any(base in {each.name, each.folder} for each in bases):
        raise InputError(f"no system is called {base}", "`cuesta ledger` without --base lists them")
    return SystemList(ledgers, unread)


def _doubt(certification: Certification, record: Record, original: str | None) -> str:
    """Why a certification should not be trusted; empty if there is no reason."""
    wrong = ["no record.json"]
    if certification.record:
        wrong = [*list_disagreements(certification, record), *list_misfits(certification.folder)]
    copy = [f"a copy of {original}"] if original else []
    return "; ".join([*copy, *(["NOT VERIFIED, see certify --verify"] if wrong else [])])
