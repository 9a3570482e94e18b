"""The summary of a run: what `--json` prints and reports show."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cuesta.analysis.answer_sizes import SizesOfClasses, find_shrunk
from cuesta.analysis.capacity.bottleneck import find_bottleneck
from cuesta.analysis.delayed_ack import HeldEcho, find_held_echoes, list_probe_echoes
from cuesta.analysis.doubts import Doubt, find_run_doubts, find_step_doubts
from cuesta.analysis.past_saturation import past_saturation
from cuesta.analysis.planned import list_left_behind, list_unchecked, read_allowed, read_published
from cuesta.analysis.published import list_unmeasured
from cuesta.analysis.search import SearchResult, search_result
from cuesta.analysis.search.user_pool import lacks_users
from cuesta.analysis.step import StepRecords
from cuesta.analysis.watching import list_held, list_marks
from cuesta.figures.step import LimitResult, PublishedComparison, StepFigures
from cuesta.figures.whole_run import PastSaturation, RunFigures
from cuesta.ledger import JsonObject, Recorded, RunReader, open_run
from cuesta.ledger.paths import read_followed
from cuesta.records.meter_figure import table_to_json

OF_RUN = {field.name for field in fields(RunFigures)}
"""Fields of the object that are about the whole run, although each step has them too: limits, published figures."""


@dataclass(frozen=True, slots=True)
class LocatedDoubt:
    """A doubt and the step that it is about; None means the whole run."""

    step: int | None
    doubt: Doubt

    def __str__(self) -> str:
        return str(self.doubt) if self.step is None else f"step {self.step + 1}: {self.doubt}"


@dataclass(frozen=True, slots=True)
class DerivedStep:
    """What follows from the records of a step alone."""

    figures: StepFigures
    sizes: SizesOfClasses
    ended: float
    """When its measurement ended, in seconds of the run."""
    lacks_users: bool
    """Whether an open load had too few users, while the host kept the limits; judged in searches."""


@dataclass(frozen=True)
class Summary:
    """The summary of a run. The figures of a sweep are those of its last step."""

    recorded: Recorded
    ended: str
    """`completed`, `interrupted`, `failed` or `cut off`."""
    planned_steps: int
    steps: list[StepFigures]
    """The measured steps; if none was measured, the first one, without figures."""
    doubts: list[LocatedDoubt]
    derived: dict[int, DerivedStep]
    """By number: what follows from the records of each measured step alone."""

    @property
    def valid(self) -> bool:
        return not self.invalidating

    @property
    def invalidating(self) -> list[LocatedDoubt]:
        """The doubts that make the run invalid: all, but for a search, which repeats the steps that are in doubt."""
        return [each for each in self.doubts if each.step is None] if "search" in self.recorded.run else self.doubts

    @property
    def invalid_because(self) -> list[str]:
        """A sentence for each doubt that makes the run invalid, and what to do."""
        return [f"{doubted}; {doubted.doubt.advice}" for doubted in self.invalidating]

    @property
    def limits(self) -> list[LimitResult]:
        return [result for step in self.steps for result in step.limits]

    @cached_property
    def search(self) -> SearchResult | None:
        return search_result(self)

    @cached_property
    def held_echoes(self) -> list[HeldEcho]:
        """The groups whose echoes a hop holds back in part, by the random acknowledgements of probe lines."""
        return find_held_echoes(list_probe_echoes(read_followed(self.recorded)))

    @property
    def counted(self) -> list[StepFigures]:
        """The steps that count: all, but for a search those of trials that were not repeated."""
        if (search := self.search) is None:
            return self.steps
        numbers = {trial.step for trial in search.counted}
        return [step for step in self.steps if step.step in numbers]

    @property
    def undoubted(self) -> list[StepFigures]:
        """The measured steps that are in no doubt; none if the whole run is."""
        doubted = {each.step for each in self.doubts}
        return [step for step in self.steps if step.seconds and not {step.step, None} & doubted]

    @property
    def limits_ok(self) -> bool | None:
        """Whether every limit was kept in every step; None if none was crossed, but one is not decided."""
        missed = [verdict for verdict in self.limits if not verdict.ok]
        return None if missed and all(verdict.undecided for verdict in missed) else not missed

    @property
    def published(self) -> list[PublishedComparison]:
        """Published figures in the order of the plan, each with the steps of its number of users."""
        figures = read_published(self.recorded)
        steps = [step for step in self.steps if step.seconds]
        held = [each for step in steps for each in step.published]
        rows = [*held, *list_unmeasured(figures, {step.users for step in steps})]
        order = [each.what for each in figures]
        return sorted(rows, key=lambda row: order.index(row.what))

    @property
    def past_saturation(self) -> list[PastSaturation]:
        """Loads past saturation of a sweep; those of a search are its trials."""
        return [] if "search" in self.recorded.run else past_saturation(self.undoubted)

    @property
    def last(self) -> StepFigures:
        """The last step, or the only one; of a search the last trial that counts, if one does."""
        return (self.counted or self.steps)[-1]

    def figures(self) -> RunFigures:
        """The figures of the whole run."""
        return RunFigures(
            valid=self.valid,
            invalid_because=self.invalid_because,
            ended=self.ended,
            interrupted=self.ended == "interrupted",
            limited_by=str(find_bottleneck(self)),
            search=found.figures() if (found := self.search) else None,
            past_saturation=self.past_saturation,
            marks=list_marks(self.recorded),
            starts_held=list_held(self.recorded),
            unchecked_hosts=list_unchecked(self.recorded),
            left_behind=list_left_behind(self.recorded),
            planned_steps=self.planned_steps,
            steps=self.steps,
            limits=self.limits,
            published=self.published,
            run_folder=str(self.recorded.folder),
        )

    def json(self) -> dict[str, Any]:
        """Make the object that `--json` prints: the run's figures, those of its last step, and all steps."""
        last = asdict(self.last, dict_factory=table_to_json)
        of_last = {name: each for name, each in last.items() if name not in OF_RUN}
        return asdict(self.figures(), dict_factory=table_to_json) | of_last


def summarise(folder: Path | str, only: int | None = None) -> Summary:
    """Derive everything from a run folder. Raises InputError if there is none that can be read."""
    return sum_up(open_run(folder), only)


LAST = -1
"""Stands for the plan's last step."""


class Follower:
    """Sums up a run again and again while it goes on: each time it reads and derives only what was added."""

    def __init__(self, folder: Path) -> None:
        self.reader = RunReader(folder)
        self.endings: list[JsonObject | None] = []
        self.derived: dict[int, DerivedStep] = {}
        """Steps whose records are complete: the last measured one may still get some, as from the host's meters."""

    def summarise(self) -> Summary:
        """Derive everything so far. Raises InputError if there is no folder that can be read."""
        recorded = self.reader.read()
        endings = [agent.ending for agent in recorded.agents]
        if endings != self.endings:  # each step's figures have what agents say at their end
            self.endings, self.derived = endings, {}
        summary = sum_up(recorded, known=self.derived)
        self.derived = {number: step for number, step in summary.derived.items() if number < max(summary.derived)}
        return summary


def sum_up(
    recorded: Recorded, only: int | None = None, known: Mapping[int, DerivedStep] = MappingProxyType({})
) -> Summary:
    """Derive everything from an open run folder, or only one step: the last measured one if that was not measured.

    `known` steps are not derived again.
    """
    measured = sorted({row.step for agent in recorded.agents for row in agent.intervals if row.measured}) or [0]
    thresholds = read_allowed(recorded)
    doubts, steps = [LocatedDoubt(None, doubt) for doubt in find_run_doubts(recorded)], []
    planned_steps = max(len(recorded.run.get("steps", [])), len(measured))
    several = len(measured) > 1 or "search" in recorded.run
    wanted = planned_steps - 1 if only == LAST else only
    numbers = measured if wanted is None else [wanted if wanted in measured else measured[-1]]
    derived = {number: known.get(number) or derive_step(recorded, number) for number in numbers}
    shrunk = list(find_shrunk({number: (step.figures, step.sizes) for number, step in derived.items()}))
    for number, step in derived.items():
        of_step = find_step_doubts(step.figures, thresholds)
        of_step = [*of_step, *(doubt for at, doubt in shrunk if at == number)]
        doubts += [LocatedDoubt(number if several else None, doubt) for doubt in of_step]
        limits = [void_limit(verdict, step.figures, of_step) for verdict in step.figures.limits]
        steps.append(replace(step.figures, limits=limits))
    return Summary(recorded, how_ended(recorded), planned_steps, steps, doubts, derived)


def derive_step(recorded: Recorded, number: int) -> DerivedStep:
    records = StepRecords(recorded, number)
    figures = records.figures()
    lacks = "search" in recorded.run and lacks_users(records, figures)
    return DerivedStep(figures, records.answer_sizes(), records.times.end, lacks)


def void_limit(verdict: LimitResult, step: StepFigures, doubts: list[Doubt]) -> LimitResult:
    """Void the result of a limit in a step whose doubts void limits.

    In an overloaded step durations grow with the length of the run: one that has not reached its limit yet would.
    """
    not_reached = verdict.ok and verdict.is_duration and step.settled.overload is not None
    if not any(doubt.voids_limits for doubt in doubts) and not not_reached:
        return verdict
    return replace(verdict, value=None, at_least=False, ok=False, undecided=None)


def how_ended(recorded: Recorded) -> str:
    """How the run ended: the worst ending of its last agents."""
    last = recorded.last_agents
    ways = {agent.ending["ended"] if agent.ending and not agent.notes.death else "cut off" for agent in last}
    ways = ways or {"cut off"}
    return next((way for way in ("failed", "cut off", "interrupted") if way in ways), "completed")
