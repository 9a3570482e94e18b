"""The figures of the catalogue that are compared over runs, and those of them that receive a verdict."""

from dataclasses import dataclass

from cuesta.figures import BY_NAME, Better, Unit


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that is compared. Its name, label and unit are those of the catalogue."""

    name: str
    """As `--json` has it."""
    label: str
    unit: Unit
    more_is_better: bool = False
    needs_meters: bool = False
    """Whether a run has it only if the host was metered."""

    def of_part(self, part: str) -> "Metric":
        """The same figure of one class of transactions, or of one group of users: `response{logout}.p95`."""
        series, _, statistic = self.name.partition(".")
        return Metric(f"{series}{{{part}}}.{statistic}", f"{self.label} of {part}", self.unit)


def metric(name: str) -> Metric:
    """Look up a metric in the catalogue."""
    figure = BY_NAME[name]
    return Metric(
        figure.alias, figure.label, figure.unit, figure.better is Better.MORE, figure.name.startswith("host.")
    )


HEADLINE = (metric("demand"), metric("throughput"), metric("response.p95"))
"""The figures that receive a verdict: the service demand varies least; throughput shows little if users mostly think;
the 95th percentile is what users feel. They are few, because each additional figure needs more runs for all."""
ECHO = metric("echo.p95")
"""Additional if keys are timed: how it feels to type."""
OF_ECHOES = (metric("keystrokes"), ECHO)
"""Used instead if tapes have no transactions, only echoes."""
CREATION, COMMAND, COMPLETION = "creation.cpu", "command.cpu", "completion"
OF_CERTIFICATIONS = (
    Metric(CREATION, "CPU, creation", Unit.SECONDS, needs_meters=True),
    Metric(COMMAND, "CPU, commands", Unit.SECONDS, needs_meters=True),
    Metric(COMPLETION, "completion", Unit.SECONDS),
)
"""Used instead for certifications: CPU seconds of the subject in each phase, and the mean real time of a process."""
HEADLINES = (OF_CERTIFICATIONS, HEADLINE, OF_ECHOES)
"""The runs are judged by the first of these whose last figure was measured."""
EXPLORATORY = tuple(
    metric(name)
    for name in (
        *(f"{series}.{of}" for series in ("response", "first_response", "echo") for of in ("p50", "p90", "p95", "p99")),
        *("response.mean", "minor_faults", "switches", "system_calls", "ios"),
    )
)
"""Figures that are shown with their intervals, without a verdict."""
