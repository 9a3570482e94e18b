"""Builds the reports that pages show: in a thread, one at a time, and again only if a folder has changed."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self, TypeVar

from cuesta.errors import UsageError
from cuesta.ledger.discover import fingerprint
from cuesta.ledger.record import Record
from cuesta.report.model import Report, Verdict
from cuesta.site.entries import Entry, list_files

Result = TypeVar("Result")
MOST_KEPT = 32
"""Reports that are kept; a large one has some MiB."""
MOST_SIDE_BY_SIDE = 8
SO_FAR = Verdict("GOES ON", "whether the figures can be trusted is told at the end", None)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A report that is asked for: what it is, and of which entries."""

    kind: str
    """A key of `BUILDERS`."""
    entries: tuple[Entry, ...]

    @classmethod
    def report_of(cls, entry: Entry) -> Self:
        """The report of one entry."""
        kinds = {"certification": "certifications", "comparison": "comparison"}
        return cls(kinds.get(entry.kind, "runs"), (entry,))


class Reports:
    """The last reports that were asked for."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, ...], Report] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def get(self, wanted: Wanted) -> Report:
        """Raises CuestaError for a folder that cannot be read or shown."""
        return await self.work(lambda: self._get(wanted))

    async def work(self, do: Callable[[], Result]) -> Result:
        """Do something slow in a thread, when nothing else slow is done."""
        async with self._one_at_a_time:
            return await asyncio.to_thread(do)

    def _get(self, wanted: Wanted) -> Report:
        for entry in wanted.entries:
            _ = [*list_files(entry.folder)]  # raises for a link to what is outside of the folder
        key = (wanted.kind, *(f"{entry.id} {fingerprint(entry.folder)}" for entry in wanted.entries))
        if key not in self._kept:
            self._kept[key] = BUILDERS[wanted.kind](wanted.entries)
        self._kept.move_to_end(key)
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return self._kept[key]


def build_runs(entries: Sequence[Entry]) -> Report:
    """The report of one run, or of several side by side."""
    from cuesta.analysis.summary import summarise  # noqa: PLC0415, slow to load
    from cuesta.report.several import build_joint_report, name_runs  # noqa: PLC0415

    _check_number(entries, "runs")
    folders = [entry.folder for entry in entries]
    report = build_joint_report(dict(zip(name_runs(folders), map(summarise, folders), strict=True)))
    if [entry.state for entry in entries] == ["goes on"]:
        return replace(report, headline="", conclusion=None, verdict=SO_FAR)
    return report


def build_comparison(entries: Sequence[Entry]) -> Report:
    """A comparison of two runs, or of what a folder of pairs holds. One that is refused says why."""
    from cuesta.analysis.compare.comparison import Terms  # noqa: PLC0415, slow to load
    from cuesta.ledger.versions import is_versions  # noqa: PLC0415
    from cuesta.report import comparison, versions  # noqa: PLC0415
    from cuesta.workflow.compare_runs import compare_folders, compare_pairs  # noqa: PLC0415
    from cuesta.workflow.compare_versions import read_comparison  # noqa: PLC0415

    match entries:
        case (one,) if is_versions(one.folder):
            return versions.build_plotted_report(read_comparison(one.folder).result)
        case (one,) if one.kind == "comparison":
            return comparison.report(compare_pairs(one.folder, Terms()).result)
        case (base, new):
            return comparison.report(compare_folders(base.folder, new.folder, Terms()).result)
    raise UsageError("a comparison is of two runs", "choose two in the list")


def build_systems(entries: Sequence[Entry]) -> Report:
    """The form of a certification, or several systems side by side."""
    from cuesta.analysis.certify.record import derive_record  # noqa: PLC0415, slow to load
    from cuesta.ledger.certification import open_certification  # noqa: PLC0415
    from cuesta.report import form_page, systems  # noqa: PLC0415
    from cuesta.report.several import name_runs  # noqa: PLC0415

    _check_number(entries, "certifications")
    folders = [entry.folder for entry in entries]
    records = [derive_record(open_certification(folder)) for folder in folders]
    if len(records) == 1:
        return form_page.build_report(records[0], folders[0])
    named: Mapping[str, tuple[Path, Record]] = dict(
        zip(name_runs(folders), zip(folders, records, strict=True), strict=True)
    )
    return systems.build_report(named)


def _check_number(entries: Sequence[Entry], what: str) -> None:
    if not entries:
        raise UsageError(f"no {what} are chosen", "choose some in the list")
    if len(entries) > MOST_SIDE_BY_SIDE:
        raise UsageError(f"{len(entries)} {what} are too many for a page", f"choose at most {MOST_SIDE_BY_SIDE}")


BUILDERS: Mapping[str, Callable[[Sequence[Entry]], Report]] = {
    "runs": build_runs,
    "comparison": build_comparison,
    "certifications": build_systems,
}
