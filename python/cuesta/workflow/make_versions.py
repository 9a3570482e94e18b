"""Makes the runs of a comparison of two versions: a rehearsal of each, then pairs until they tell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cuesta import _native
from cuesta.analysis.compare.looks import plan_pairs
from cuesta.analysis.compare.versions import (
    LEVEL,
    Verdict,
    VersionRun,
    compare_versions,
    read_version_run,
)
from cuesta.engine.interleaved import Interleaved, Turn, run_in_turn
from cuesta.engine.job import SECOND, Job
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import run_job
from cuesta.ledger.versions import FILE, Ending, VersionsRecord
from cuesta.private_files import replace_json
from cuesta.records.observation import RunOfSeries
from cuesta.revisions import Revisions
from cuesta.workflow.control import Control
from cuesta.workflow.rehearsal import LONGEST, Lengths, Rehearsal, choose_key_rate, choose_lengths

WANTED_PAIRS = 12
"""Runs are shortened, within limits, until this number of pairs fits into the budget."""
MOST_PAIRS = 60
"""More pairs than these are not planned: the looks would be too many."""
LATE = 1.15
"""The factor by which a comparison may exceed its budget: a last pair that was planned is still made."""


@dataclass(frozen=True, slots=True)
class PlannedVersions:
    """The comparison to make, checked."""

    series: Interleaved
    record: VersionsRecord
    jobs: tuple[Job, Job]
    """Those of the first pair."""
    revisions: Revisions | None = None
    """If the versions are revisions of git, which are built before the first run."""


@dataclass
class VersionMaker:
    """Makes the runs; `versions.json` says at every moment how far it got."""

    planned: PlannedVersions
    folder: Path
    control: Control
    engine: Engine
    begun: int = field(default_factory=_native.now)
    runs: list[VersionRun] = field(default_factory=list)
    """Those of the pair that is being made."""
    pairs: list[tuple[VersionRun, VersionRun]] = field(default_factory=list)
    """Those that count."""

    def __post_init__(self) -> None:
        self.record = self.planned.record

    def make(self) -> None:
        self._keep()
        rehearsals = [self._rehearse(side) for side in (0, 1)]
        if self._has_ended_before(rehearsals):
            return
        key_rate = choose_key_rate(rehearsals) if self.record.is_default_tape else None
        lengths = choose_lengths(rehearsals, self.record.budget - self._seconds(), WANTED_PAIRS, key_rate)
        most = min(lengths.pairs, MOST_PAIRS)
        planned = tuple(plan_pairs(most, LEVEL / len(self.record.figures)) if most else ())
        self._keep(planned=planned, measure=lengths.measure, seconds_per_pair=round(lengths.pair, 1), key_rate=key_rate)
        if not planned:
            self._keep(ended="budget")
            return
        self.control.tell(f"up to {most} pairs, about {lengths.pair:.0f} s each")
        self._keep(ended=self._make_pairs(lengths))

    def _rehearse(self, side: int) -> Rehearsal:
        """Play a version once, until enough was seen."""
        rehearsal = Rehearsal(self.control.console)
        if not self.control.console.stop.is_set():
            self.control.tell(f"rehearsal: {self.record.names[side]}")
            flags = {"settle": "0s", "measure": f"{LONGEST + 5:.0f}s"}
            job, begun = with_flags(self.planned.series, flags).jobs(1)[side], self._seconds()
            out = self.folder / "rehearsal" / ("base", "new")[side]
            of_two = RunOfSeries(what="run", number=side + 1, of=2, name="rehearsal")
            console = replace(self.control.console, observer=rehearsal, stop=rehearsal.enough).in_series(of_two)
            run_job(job, out, console, self.engine)
            rehearsal.overhead = max(self._seconds() - begun - rehearsal.seconds, 0.0)
            found = read_version_run(out, self.record).obstacle
            rehearsal.obstacle = found or rehearsal.explain_nothing()
        return rehearsal

    def _has_ended_before(self, rehearsals: Sequence[Rehearsal]) -> bool:
        """Whether there is nothing to be made after the rehearsals."""
        if self.control.console.stop.is_set():
            self._keep(ended="interrupted")
            return True
        names = zip(self.record.names, rehearsals, strict=True)
        why = tuple(f"{name}: {each.obstacle}" for name, each in names if each.obstacle)
        if why:
            self._keep(ended="obstacle", why=why)
        return bool(why)

    def _make_pairs(self, lengths: Lengths) -> Ending:
        """Make pairs until they tell; returns why no more are made."""
        flags = {"settle": f"{lengths.settle:g}s", "measure": f"{lengths.measure:g}s"}
        if self.record.key_rate is not None:
            flags["key_rate"] = f"{self.record.key_rate:g}"
        series = replace(with_flags(self.planned.series, flags), pairs=self.record.planned[-1])

        def judge(run: Path) -> list[str]:
            self.runs.append(read_version_run(run, self.record))
            why = self.runs[-1].compared.why_excluded
            return [why] if why else []

        turns = run_in_turn(series, self.folder, judge, self._announce, self.control.console, self.engine)
        for turn, reasons in turns:
            if self.control.console.stop.is_set():
                return "interrupted"
            if ending := self._take(turn, reasons):
                return ending
            if not self.runs and self._seconds() + lengths.pair > LATE * self.record.budget:
                return "budget"
        return "interrupted" if self.control.console.stop.is_set() else "budget"

    def _announce(self, turn: Turn) -> None:
        self.control.tell(f"pair {turn.pair}: {self._name(turn)}")

    def _take(self, turn: Turn, reasons: Sequence[str]) -> Ending | None:
        """Take a run; returns why no more are made, if so. A pair that does not count is dropped."""
        if obstacle := self.runs[-1].obstacle:
            self._keep(why=(f"{self._name(turn)}: {obstacle}",))
            return "obstacle"
        if reasons:
            spoilt = f"pair {turn.pair}, {self._name(turn)}: {'; '.join(reasons)}"
            self.control.tell(f"{spoilt}; it is repeated")
            self._keep(spoilt=(*self.record.spoilt, spoilt))
            self.runs.clear()
        elif len(self.runs) == 2:
            one, other = self.runs if turn.name == "new" else self.runs[::-1]
            self.pairs.append((one, other))
            self.runs.clear()
            if compare_versions(self.folder, self.pairs, self.record).verdict != Verdict.CANNOT_TELL:
                return "decided"
        return None

    def _name(self, turn: Turn) -> str:
        return self.record.names[turn.name == "new"]

    def _keep(self, **changes: object) -> None:
        self.record = self.record.model_copy(update=changes)
        replace_json(self.folder / FILE, self.record.model_dump(mode="json"))

    def _seconds(self) -> float:
        """Since the comparison began."""
        return (_native.now() - self.begun) / SECOND


def with_flags(series: Interleaved, flags: Mapping[str, str]) -> Interleaved:
    """The same pairs, with settings that flags of the user override."""
    base, new = (replace(each, flags={**flags, **each.flags}) for each in (series.base, series.new))
    return replace(series, base=base, new=new)
