"""All simulations that a prediction was asked for: its loads and its limit, as measured and with the changes."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cuesta.analysis.predict.answer import Answer
from cuesta.analysis.predict.changes import Change
from cuesta.analysis.predict.pace import paced
from cuesta.analysis.predict.points import Conditions, paces
from cuesta.analysis.predict.prediction import SystemPrediction
from cuesta.analysis.predict.simulated_limit import SimulatedLimit, is_percentile, percentiles_with, simulated_limit
from cuesta.analysis.predict.simulation import SimulatedFigure, Simulator, insist_on_stations
from cuesta.analysis.predict.workload import workload_of
from cuesta.errors import RefusedError

Tell = Callable[[int], None]
"""Is told before a simulation how many users it has."""


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
    played: Sequence[str]
    """What the users play."""
    notes: Sequence[str]
    refused: Sequence[str]
    """What was not simulated, and why."""

    @property
    def disagrees(self) -> bool:
        """Whether a mean contradicts exact theory."""
        return any(each.agrees is False for host in self.hosts for each in host.figures)

    @property
    def is_reported(self) -> bool:
        """Whether the users that the limit allows are reported, with and without the changes."""
        return all(not each.users.not_reported for host in self.hosts for each in host.limits)

    @property
    def is_answered(self) -> bool:
        """Whether all that was asked is simulated, reported, and as exact theory has it."""
        return self.is_reported and not self.refused and not self.disagrees


def simulated(answer: Answer, system: SystemPrediction, seed: int, tell: Tell) -> SimulatedSystem:
    """Simulate the loads whose response is reported, and look for the system's limit if that is a percentile."""
    reported = [figure for figure in system.figures if not figure.not_reported]
    loads = [figure.at for figure in reported if not figure.is_response_open]
    refused = dict[str, None]() if reported else {"no load is reported, so none is simulated": None}
    if left_out := [f"{each.at.users:,}" for each in reported if each.is_response_open]:
        refused[f"{', '.join(left_out)} {answer.users_are}: the rows leave their response open"] = None
    players = dict[Conditions, Simulator]()
    for at in dict.fromkeys(map(pace, loads)):
        try:
            players[at] = prepared(answer, system, at, seed)
        except RefusedError as error:
            refused[sentence(error)] = None
    known = [at for at in loads if pace(at) in players]
    hosts = list[SimulatedHost]()
    for changes in [(), answer.changes] if answer.changes else [()]:
        figures, limits = list[SimulatedFigure](), list[SimulatedLimit]()
        changed = {at: replace(each, changes=changes) for at, each in players.items()}
        try:
            for at in known:
                tell(at.users)
                figures.append(changed[pace(at)].figure(at.users))
            if answer.limit and is_percentile(answer.limit):
                for each in distinct(changed[pace(at)] for at in known):
                    limits.append(simulated_limit(each, answer.limit, tell))
        except RefusedError as error:
            refused[sentence(error)] = None
        if figures:
            hosts.append(SimulatedHost(changes, figures, limits))
    own = [each.workload for each in players.values()]
    played = dict.fromkeys(each.about for each in own)
    return SimulatedSystem(seed, hosts, [*played], [*dict.fromkeys(n for each in own for n in each.notes)], [*refused])


def prepared(answer: Answer, system: SystemPrediction, at: Conditions, seed: int) -> Simulator:
    """The users of a pace. Raises RefusedError for a model, or for rows, that cannot be simulated."""
    insist_on_stations(system, at)
    workload, own = paced(workload_of(at, system.points), at, answer.prediction.measurements, seed)
    return Simulator(system, at, (), workload, own, seed, percentiles_with(answer.limit))


def distinct(simulators: Iterable[Simulator]) -> list[Simulator]:
    """One for each configuration and pace that is played: that of measured rows is the tape's own."""
    found = {replace(each.at, think=each.pace.think, keying=each.pace.keying): each for each in simulators}
    return [found[at] for at in paces(found)]


def pace(at: Conditions) -> Conditions:
    """A load without its number of users."""
    return replace(at, users=1)


def sentence(error: RefusedError) -> str:
    return f"{error}: {error.remedy}" if error.remedy else str(error)
