"""The steps of a run by their load; the work of a step, and the settings that bound its speed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cuesta import _native
from cuesta.analysis.features import held_time
from cuesta.analysis.planned import last_part
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.ledger import JsonObject, Recorded
from cuesta.plan.sweep import setting_at
from cuesta.records.meter_report import MeterReport
from cuesta.target import BUILTIN_HOST
from cuesta.units import digits, many

if TYPE_CHECKING:
    from cuesta.analysis.summary import Summary


@dataclass(frozen=True, slots=True)
class Work:
    """The unit of work that users wait for: a transaction, or a key where the tape has no transactions."""

    unit: str
    per_s: float
    """X, counted."""
    response: Distribution
    """Since sent, so that the driver's own delay is left out."""

    @property
    def mean(self) -> float:
        """R: the mean response in seconds."""
        return self.response.mean or 0.0


@dataclass(frozen=True, slots=True)
class MeasuredStep:
    recorded: Recorded
    step: StepFigures
    host_name: str = ""
    """The host whose meters `step.host` has, where several are metered."""

    def by_host(self) -> "list[MeasuredStep]":
        """The step as the meters of each host show it."""
        return [
            MeasuredStep(replace(self.recorded, metered=self.recorded.hosts[name]), replace(self.step, host=host), name)
            for name, host in (self.step.hosts or {}).items()
        ] or [self]

    @property
    def owner(self) -> str:
        """Whose CPUs its meters show: `farm` where several hosts are metered, else `the host`."""
        return self.host_name or "the host"

    @property
    def of_host(self) -> str:
        """` of farm` where several hosts are metered, else empty."""
        return f" of {self.host_name}" if self.host_name else ""

    @property
    def work(self) -> Work | None:
        """None if nothing was completed. The host works for probes too."""
        step = self.step
        if step.transactions.per_s and step.response_from_sent.count:
            return Work("transaction", step.served_transactions / step.seconds, step.response_from_sent)
        if step.keystrokes.per_s and step.echo_from_sent.count:
            return Work("key", step.served_keys / step.seconds, step.echo_from_sent)
        return None

    @property
    def report(self) -> MeterReport | None:
        return self.step.host.meter_report

    @property
    def groups(self) -> list[JsonObject]:
        steps = self.recorded.run.get("steps", [])
        groups: list[JsonObject] = steps[self.step.step]["group"] if self.step.step < len(steps) else []
        return [group for group in groups if group["users"]]

    @property
    def own_pace(self) -> float:
        """Z + K: seconds that users think and type for each transaction; 0 where the response-time law has none."""
        law = self.step.law
        return law.z + law.k if law else 0.0

    @property
    def fixed_delay(self) -> float:
        """The configured delay of the built-in host's answers, in seconds."""
        delay = self.recorded.plan.get("host", {}).get("delay")
        return _native.duration(delay) / 1e9 if delay and self.is_at_builtin_host else 0.0

    @property
    def has_fixed_service(self) -> bool:
        """Whether the built-in host is configured with a fixed service time."""
        service = setting_at(self.step.swept, self.recorded.plan, "host.service_time") or ""
        return service.startswith("fixed") and self.is_at_builtin_host

    @property
    def is_at_builtin_host(self) -> bool:
        return all(group.get("target") == BUILTIN_HOST for group in self.groups)

    @property
    def held(self) -> float:
        """Seconds for which the network holds a key and its answer on purpose, on average."""
        return held_time(self.step)


@dataclass(frozen=True, slots=True)
class LoadPoint:
    step: StepFigures
    amount: float
    text: str
    """The load in words: `412 users`, `31.0 arrivals/s`."""


def order_by_load(summary: "Summary") -> Sequence[LoadPoint]:
    """The steps that differ in nothing but their load, the lightest first; else the last step alone.

    Of a search: the trials that count, up to the one at the limit.
    """
    if (search := summary.search) and (last := search.at_limit()):
        by_number = {step.step: step for step in summary.steps}
        trials = [*sorted((t for t in search.counted if t.load < last.load), key=lambda trial: trial.load), last]
        return [LoadPoint(by_number[t.step], t.load, search.method.with_unit(t.load)) for t in trials]
    steps = summary.steps
    others = {last_part(name) for name in list_swept_besides_users(summary)}
    if not others and len({step.users for step in steps}) > 1:
        return sorted(map(point_by_users, steps), key=lambda point: point.amount)
    if others == {"load"} and all(step.due and step.seconds for step in steps):
        return sorted(map(point_by_arrivals, steps), key=lambda point: point.amount)
    return [point_by_users(summary.last)]


def point_by_users(step: StepFigures) -> LoadPoint:
    return LoadPoint(step, step.users, many(step.users, "user"))


def point_by_arrivals(step: StepFigures) -> LoadPoint:
    """The arrival rate of an open load, by what was due in the measurement interval."""
    rate = step.due.count / step.seconds if step.due else 0.0
    return LoadPoint(step, rate, f"{digits(rate)} arrivals/s")


def list_swept_besides_users(summary: "Summary") -> list[str]:
    """Names of the settings that were swept besides the number of users."""
    values: dict[str, set[str]] = {}
    for step in summary.steps:
        for name, value in step.swept.items():
            values.setdefault(name, set()).add(str(value))
    return [name for name, points in values.items() if last_part(name) != "users" and len(points) > 1]
