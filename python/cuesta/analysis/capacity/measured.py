"""One step as capacity looks at it: the work that was done, and the settings that tell how fast it can be."""

from dataclasses import dataclass

from cuesta import _native
from cuesta.figures.durations import Distribution
from cuesta.figures.step import StepFigures
from cuesta.ledger import JsonObject, Recorded
from cuesta.plan.sweep import setting_at
from cuesta.records.meter_report import MeterReport
from cuesta.target import BUILTIN_HOST


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
    """The records of a run and the figures of one of its steps."""

    recorded: Recorded
    step: StepFigures

    @property
    def work(self) -> Work | None:
        """None where nothing was done."""
        step = self.step
        if step.transactions.per_s and step.response_from_sent.count:
            return Work("transaction", step.transactions.per_s, step.response_from_sent)
        if step.keystrokes.per_s and step.echo_from_sent.count:
            return Work("key", step.keystrokes.per_s, step.echo_from_sent)
        return None

    @property
    def report(self) -> MeterReport | None:
        """The host's meters over the measurement interval."""
        return self.step.host.meter_report

    @property
    def groups(self) -> list[JsonObject]:
        """The groups of users of this step, as planned."""
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
        """The delay that the built-in host was told to add to every answer, in seconds."""
        delay = self.recorded.plan.get("host", {}).get("delay")
        return _native.duration(delay) / 1e9 if delay and self.is_at_builtin_host else 0.0

    @property
    def has_fixed_service(self) -> bool:
        """Whether the built-in host was told to serve every transaction for the same time."""
        service = setting_at(self.step.swept, self.recorded.plan, "host.service_time") or ""
        return service.startswith("fixed") and self.is_at_builtin_host

    @property
    def is_at_builtin_host(self) -> bool:
        return all(group.get("target") == BUILTIN_HOST for group in self.groups)

    @property
    def held(self) -> float:
        """Seconds that a key and its answer wait in the agents of TMux, on average."""
        tmux = self.step.tmux
        return sum(side.held_mean or 0.0 for side in (tmux.driver, tmux.host)) if tmux else 0.0
