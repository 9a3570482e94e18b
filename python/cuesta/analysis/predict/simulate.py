"""Runs the simulations that a prediction was asked for: its loads and its limit, as measured and with the changes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.pace import apply_pace
from cuesta.analysis.predict.points import Conditions, list_paces
from cuesta.analysis.predict.prediction import SystemPrediction
from cuesta.analysis.predict.simulated_limit import (
    SimulatedLimit,
    find_simulated_limit,
    is_percentile,
    list_percentiles,
)
from cuesta.analysis.predict.simulation import SimulatedFigure, Simulator, insist_on_stations
from cuesta.analysis.predict.what_if import Answer
from cuesta.analysis.predict.workload import choose_workload
from cuesta.errors import RefusedError

Announce = Callable[[int], None]
"""Called before a simulation with its number of users."""


@dataclass(frozen=True, slots=True)
class SimulatedHost:
    """The loads and the limit of one system, as it was measured or with the changes."""

    changes: Sequence[Change]
    figures: Sequence[SimulatedFigure]
    limits: Sequence[SimulatedLimit]

    @property
    def events(self) -> int:
        return sum(each.events for each in self.figures) + sum(each.events for each in self.limits)

    @property
    def elapsed(self) -> float:
        return sum(each.elapsed for each in self.figures) + sum(each.elapsed for each in self.limits)


@dataclass(frozen=True, slots=True)
class SimulatedSystem:
    """The simulations of configurations that were fitted together."""

    seed: int
    hosts: Sequence[SimulatedHost]
    """As it was measured; then with the changes, if there are any. Empty if nothing can be simulated."""
    workloads: Sequence[str]
    """Their titles."""
    notes: Sequence[str]
    refused: Sequence[str]
    """Why simulations were refused, a sentence each."""

    @property
    def disagrees(self) -> bool:
        """Whether a mean contradicts the exact model."""
        return any(each.agrees is False for host in self.hosts for each in host.figures)

    @property
    def is_reported(self) -> bool:
        """Whether no number of users within the limit is withheld."""
        return all(not each.users.not_reported for host in self.hosts for each in host.limits)

    @property
    def is_answered(self) -> bool:
        return self.is_reported and not self.refused and not self.disagrees


def run_simulations(answer: Answer, system: SystemPrediction, seed: int, announce: Announce) -> SimulatedSystem:
    """Simulate the loads whose response is reported, and search for the limit if it is a percentile."""
    reported = [figure for figure in system.figures if not figure.not_reported]
    loads = [figure.at for figure in reported if not figure.is_response_too_wide]
    refused = dict[str, None]() if reported else {"no load is reported, so none is simulated": None}
    if left_out := [f"{each.at.users:,}" for each in reported if each.is_response_too_wide]:
        refused[f"{', '.join(left_out)} {answer.users_are}: the band of their response is too wide"] = None
    simulators = dict[Conditions, Simulator]()
    for at in dict.fromkeys(map(without_users, loads)):
        try:
            simulators[at] = prepare_simulator(answer, system, at, seed)
        except RefusedError as error:
            refused[write_refusal(error)] = None
    known = [at for at in loads if without_users(at) in simulators]
    hosts = list[SimulatedHost]()
    for changes in [(), answer.changes] if answer.changes else [()]:
        figures, limits = list[SimulatedFigure](), list[SimulatedLimit]()
        changed = {at: replace(each, changes=changes) for at, each in simulators.items()}
        try:
            for at in known:
                announce(at.users)
                figures.append(changed[without_users(at)].simulate(at.users))
            if answer.limit and is_percentile(answer.limit):
                for each in select_distinct(changed[without_users(at)] for at in known):
                    limits.append(find_simulated_limit(each, answer.limit, announce))
        except RefusedError as error:
            refused[write_refusal(error)] = None
        if figures:
            hosts.append(SimulatedHost(changes, figures, limits))
    workloads = [simulator.workload for simulator in simulators.values()]
    titles = dict.fromkeys(workload.title for workload in workloads)
    notes = dict.fromkeys(note for workload in workloads for note in workload.notes)
    return SimulatedSystem(seed, hosts, [*titles], [*notes], [*refused])


def prepare_simulator(answer: Answer, system: SystemPrediction, at: Conditions, seed: int) -> Simulator:
    """The simulator of one pace. Raises RefusedError for a model or rows that cannot be simulated."""
    insist_on_stations(system, at)
    workload, pace = apply_pace(choose_workload(at, system.points), at, answer.prediction.measurements, seed)
    return Simulator(system, at, (), workload, pace, seed, list_percentiles(answer.limit))


def select_distinct(simulators: Iterable[Simulator]) -> list[Simulator]:
    """One for each configuration and played pace."""
    by_pace = {replace(each.at, think=each.pace.think, keying=each.pace.keying): each for each in simulators}
    return [by_pace[at] for at in list_paces(by_pace)]


def without_users(at: Conditions) -> Conditions:
    return replace(at, users=1)


def write_refusal(error: RefusedError) -> str:
    return f"{error}: {error.remedy}" if error.remedy else str(error)
