"""Which figures of the catalogue are compared over runs, and which of them a verdict is given on."""

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
    """Whether it is there only if the host was metered."""

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
"""What verdicts are given on: the demand is the steadiest, throughput hides a change where users mostly think, and the
95th percentile is what a user feels. Few, because each one more asks more runs of the others."""
ECHO = metric("echo.p95")
"""Besides, where keys are timed: how it feels to type."""
OF_ECHOES = (metric("keystrokes"), ECHO)
"""Instead, where tapes have no transactions but echoes."""
CREATION, COMMAND, COMPLETION = "creation.cpu", "command.cpu", "completion"
OF_CERTIFICATIONS = (
    Metric(CREATION, "CPU, creation", Unit.SECONDS, needs_meters=True),
    Metric(COMMAND, "CPU, commands", Unit.SECONDS, needs_meters=True),
    Metric(COMPLETION, "completion", Unit.SECONDS),
)
"""Instead, of certifications: CPU seconds of all subject processes in either phase, and mean real time of a process."""
HEADLINES = (OF_CERTIFICATIONS, HEADLINE, OF_ECHOES)
"""The first applies whose last figure was measured."""
EXPLORATORY = tuple(
    metric(name)
    for name in (
        *(f"{series}.{of}" for series in ("response", "first_response", "echo") for of in ("p50", "p90", "p95", "p99")),
        *("response.mean", "minor_faults", "switches", "system_calls", "ios"),
    )
)
"""Shown with their intervals, and never judged."""
