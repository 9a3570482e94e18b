"""The figures of the catalogue that are compared over runs, and those of them that receive a verdict."""

from dataclasses import dataclass, replace

from cuesta.figures import BY_NAME, Better, Unit
from cuesta.figures.catalogue import DURATIONS


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure that is compared. Its name, label and unit are those of the catalogue."""

    name: str
    """The name in `--json`."""
    label: str
    unit: Unit
    more_is_better: bool = False
    needs_meters: bool = False
    """Whether a run has it only if the host was metered."""
    series: str = ""
    """The distribution that it is taken from, as `response`; empty if it is of none."""
    statistic: str = ""
    """Which figure of the distribution: `p95`."""

    def for_part(self, part: str) -> "Metric":
        """The metric for one class of transactions, or for one group of users: `response{logout}.p95`."""
        name = f"{self.series}{{{part}}}.{self.statistic}"
        return replace(self, name=name, label=f"{self.label} of {part}")


def metric(name: str) -> Metric:
    figure = BY_NAME[name]
    table, *statistic = figure.path
    of_distribution = table in DURATIONS and len(statistic) == 1
    return Metric(
        figure.alias,
        figure.label,
        figure.unit,
        more_is_better=figure.better is Better.MORE,
        needs_meters=table == "host",
        series=table if of_distribution else "",
        statistic=statistic[0] if of_distribution else "",
    )


HEADLINE = (metric("demand"), metric("throughput"), metric("response.p95"))
"""The figures that receive a verdict: the service demand varies least; throughput shows little if users mostly think;
the 95th percentile is what users feel. They are few, because each additional figure needs more runs for all."""
ECHO = metric("echo.p95")
"""Tested as well if keys are timed: it is how the system feels to type on."""
ECHO_HEADLINES = (metric("keystrokes"), ECHO)
"""The headline figures of runs whose tapes have no transactions, only echoes."""
FAILED = metric("errors.rate")
"""The share of what users asked for that failed; of keys, where the tape has no transactions."""
WITHOUT_WORK = Metric("users.without_work", "users who could not work", Unit.SHARE)
"""The share of the users who had no line at the end, or never got to work."""
CREATION_CPU, COMMAND_CPU, COMPLETION = "creation.cpu", "command.cpu", "completion"
OF_CERTIFICATIONS = (
    Metric(CREATION_CPU, "CPU, creation", Unit.SECONDS, needs_meters=True),
    Metric(COMMAND_CPU, "CPU, commands", Unit.SECONDS, needs_meters=True),
    Metric(COMPLETION, "completion", Unit.SECONDS),
)
"""The headline figures of certifications: CPU seconds of the subject in each phase, mean real time of a process."""
HEADLINES = (OF_CERTIFICATIONS, HEADLINE, ECHO_HEADLINES)
"""The sets of headline figures, in order of preference. A comparison takes the first set whose last figure any run
has, and adds `ECHO` if any run timed its keys. Certification runs also have the figures of the other sets, so theirs
comes first."""
EXPLORATORY = tuple(
    metric(name)
    for name in (
        *(
            f"{series}.p{n}"
            for series in ("response", "first_response", "echo", "whole_frame")
            for n in (50, 90, 95, 99)
        ),
        *("echo.path.host.mean", "echo.path.outside.mean"),
        *("frames.per_key", "frames.bytes_per_key"),
        *("response.mean", "minor_faults", "switches", "system_calls", "ios"),
    )
)
"""Figures that are shown with their intervals, without a verdict."""
