"""Each metric that other programs are told, declared once: its names, its unit, what it means, and how it is read.

Names are those of OpenTelemetry, units those of UCUM. Prometheus has the unit in the name.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from cuesta.live.view import HostView, View
from cuesta.publish.metrics import Metrics, load

GROUP, TRANSACTION, ERROR = "cuesta.group", "cuesta.transaction", "error.type"
HOST, MODE, CAUSE, ACTIVITY = "cuesta.host", "cpu.mode", "cuesta.cause", "cuesta.activity"
EVENT, NOTE, DIRECTION = "cuesta.event", "cuesta.note", "cuesta.direction"
ENDINGS = {"s": "_seconds", "1": "_ratio"}
"""How a name in Prometheus says the unit. What is counted, as in `{key}`, is no unit there."""

Value = tuple[Sequence[str], float]
"""The values of the attributes, and the number."""


@dataclass(frozen=True, slots=True)
class Durations:
    """A distribution of times since the start of the run, by group and transaction."""

    figure: str
    meaning: str
    attributes: Sequence[str] = (GROUP, TRANSACTION)
    unit: str = "s"

    @property
    def name(self) -> str:
        return f"cuesta.{self.figure}.duration"


@dataclass(frozen=True, slots=True)
class Number:
    """A count since the start of the run, or how something stands now."""

    name: str
    unit: str
    meaning: str
    read: Callable[[Metrics], Iterable[Value]]
    attributes: Sequence[str] = ()
    is_count: bool = False


Instrument = Durations | Number


def prometheus_name(instrument: Instrument) -> str:
    """Its name in Prometheus, as its queries have it."""
    ending = "_total" if isinstance(instrument, Number) and instrument.is_count else ""
    return label(instrument.name) + ENDINGS.get(instrument.unit, "") + ending


def describe(instrument: Instrument) -> str:
    """What it means, as a sentence."""
    meaning = f"time {instrument.meaning}" if isinstance(instrument, Durations) else instrument.meaning
    return f"{meaning[0].upper()}{meaning[1:]}."


def label(attribute: str) -> str:
    """The name of an attribute in Prometheus."""
    return attribute.replace(".", "_")


def _of_view(read: Callable[[View], float]) -> Callable[[Metrics], Iterator[Value]]:
    """Reads one number of the newest moment."""

    def read_newest(metrics: Metrics) -> Iterator[Value]:
        if metrics.view:
            yield (), read(metrics.view)

    return read_newest


def _transactions(metrics: Metrics) -> Iterator[Value]:
    yield (), metrics.counts().transactions


def _keys(metrics: Metrics) -> Iterator[Value]:
    yield (), metrics.counts().keys


def _characters(metrics: Metrics) -> Iterator[Value]:
    yield from (((direction,), count) for direction, count in metrics.counts().characters.items())


def _errors(metrics: Metrics) -> Iterator[Value]:
    yield from (((name,), count) for name, count in metrics.counts().errors.items())


def _activities(metrics: Metrics) -> Iterator[Value]:
    if metrics.view:
        yield from (((activity,), users) for activity, users in metrics.view.doing.items())


def _hosts(metrics: Metrics) -> Iterator[tuple[str, HostView]]:
    """Each host that is metered, by its number."""
    if metrics.view:
        yield from ((str(number), host) for number, host in enumerate(metrics.view.hosts))


def _host_cpu(metrics: Metrics) -> Iterator[Value]:
    for number, host in _hosts(metrics):
        for mode, percent in (("user", host.usr), ("system", host.sys), ("idle", host.idle)):
            if percent is not None:
                yield (number, mode), percent / 100


def _host_causes(metrics: Metrics) -> Iterator[Value]:
    for number, host in _hosts(metrics):
        yield from (((number, cause), percent / 100) for cause, percent in host.causes)


def _events(metrics: Metrics) -> Iterator[Value]:
    newest = {(event.kind, event.note): event.at for event in metrics.events()}
    yield from newest.items()


DURATIONS = (
    Durations("echo", "from the instant at which a key was due to its echo"),
    Durations("response", "from the instant at which the last key of a transaction was due to its whole answer"),
    Durations(
        "first_response",
        "from the instant at which the last key of a transaction was due to the first character of its answer",
    ),
    Durations("lateness", "from the instant at which a key could be sent to its sending: the driver's own delay"),
)
NUMBERS = (
    Number("cuesta.transactions", "{transaction}", "transactions completed", _transactions, is_count=True),
    Number("cuesta.keys", "{key}", "keys sent", _keys, is_count=True),
    Number(
        "cuesta.characters",
        "{character}",
        "characters typed (`in`) and shown (`out`)",
        _characters,
        (DIRECTION,),
        is_count=True,
    ),
    Number("cuesta.errors", "{error}", "failures of the host or the line", _errors, (ERROR,), is_count=True),
    Number("cuesta.users", "{user}", "users with a line", _of_view(lambda view: view.users)),
    Number("cuesta.users_by_activity", "{user}", "users of the step by what they do", _activities, (ACTIVITY,)),
    Number("cuesta.wait.longest", "s", "the longest wait of a user for the host now", _of_view(lambda v: v.longest)),
    Number("cuesta.step", "{step}", "number of the load step or trial, from 1", _of_view(lambda view: view.step + 1)),
    Number("cuesta.step.users", "{user}", "users of the load step or trial, started or not", _of_view(load)),
    Number("cuesta.elapsed", "s", "from the start of the run or its segment", _of_view(lambda view: view.elapsed)),
    Number("cuesta.driver.cpu", "1", "CPU time of the driver, of one core", _of_view(lambda view: view.driver_cpu)),
    Number("cuesta.host.cpu", "1", "CPU time of the host, of all its CPUs, by mode", _host_cpu, (HOST, MODE)),
    Number(
        "cuesta.host.cpu_by_cause", "1", "CPU time of the host, of all its CPUs, by cause", _host_causes, (HOST, CAUSE)
    ),
    Number(
        "cuesta.event.timestamp",
        "s",
        "when a step or trial began (`step`), somebody marked an instant (`mark`), or the progress was told (`told`), "
        "since 1970",
        _events,
        (EVENT, NOTE),
    ),
)
