"""The figures of the driver itself in a load step: what driving cost, and each agent's part."""

from collections.abc import Mapping

from cuesta.figures.about import Better, Unit, declare, figure_table
from cuesta.figures.durations import ECHO, LATENESS, RESPONSE, Distribution


@figure_table
class ScreenCost:
    """What the users' screens cost the driver."""

    count: int = declare("number of screens", Unit.COUNT, "screens")
    bytes_each: float = declare("memory of one screen, computed from its size", Unit.BYTES, "memory of a screen")
    drawing: float = declare(
        "seconds per second and thread spent drawing on screens, sampled", Unit.SHARE, "drawing on screens"
    )
    awaited: float | None = declare(
        "drawing while a user waited for its answer, per transaction, sampled: it is a part of the response",
        Unit.SECONDS,
        "drawing in a response",
        Better.LESS,
        default=None,
    )


@figure_table
class DriverLoad:
    """The driver's own consumption: that of its busiest agent."""

    cpu: float = declare(
        "seconds of CPU per second and thread: a share of one core", Unit.SHARE, "driver CPU", Better.LESS
    )
    run_wait: float = declare(
        "seconds per second and thread in which a thread was ready to run and had no CPU",
        Unit.SHARE,
        "driver waiting for a CPU",
        Better.LESS,
    )
    spun: float = declare(
        "seconds of CPU per second and thread in which a thread with time to spare waited awake, to be exact",
        Unit.SHARE,
        "driver spinning",
    )
    own: Distribution = declare(
        "What the driver itself adds to the time from a key to the first character after it: what the kernel did "
        "not see of it, on lines that it stamps",
        None,
        "driver's own part of an echo",
        Better.LESS,
    )
    threads: int = declare("threads of all agents", Unit.COUNT, "driver threads")
    rss_per_user: int | None = declare("resident memory / users", Unit.BYTES, "memory per user", Better.LESS)
    screens: ScreenCost | None = declare("None where no user looked at one")
    voids: list[str] = declare(
        "durations of which over a tenth is lateness or drawing: they are the driver's as much as the host's",
        default_factory=list,
    )
    watching: float | None = declare(
        "seconds of CPU per second that those who watched the run took on the engine's machine, besides `cpu`: a share "
        "of one core; None if the run was not watched",
        Unit.SHARE,
        "CPU of watching the run",
        default=None,
    )
    watchers: Mapping[str, float] = declare(
        "the same of each who watched, by name: the live view, the page, exporters", default_factory=dict
    )


@figure_table
class ClockDrift:
    """How an agent's clock moved against the engine's."""

    moved: float = declare(
        "by how much it moved, from its reading at the start until that at the end of the step (in a search: from the "
        "beginning of the step on); above 0 if it gained",
        Unit.SECONDS,
    )
    error: float = declare("the most by which that may be wrong", Unit.SECONDS)
    seconds: float = declare("the time between the two readings", Unit.SECONDS)

    @property
    def rate(self) -> float:
        """Seconds a second."""
        return self.moved / self.seconds if self.seconds else 0.0


@figure_table
class AgentFigures:
    """One agent; a biased one differs from the others."""

    agent: int = declare("the number of the agent")
    response: Distribution = declare(RESPONSE)
    lateness: Distribution = declare(LATENESS)
    cpu: float = declare("seconds of CPU per second and thread", Unit.SHARE)
    run_wait: float = declare(
        "seconds per second and thread in which a thread was ready to run and had no CPU", Unit.SHARE
    )
    echo: Distribution = declare(ECHO)
    node: str | None = declare("the name of its node; None on the engine's own machine")
    clock: ClockDrift | None = declare(
        "how its clock moved against the engine's; None if that is its own, or was read once only"
    )
    silent: float | None = declare(
        "the longest time in which it said nothing, though it should have; None if there was none", Unit.SECONDS
    )


@figure_table
class OddNode:
    """A node whose figure differs from that of the others, at the same host in the same time."""

    node: str = declare("the name of the node")
    figure: str = declare(
        "`failing_users` (who lost their line, gave a wait up, or had no answer), `lateness`, `echo`, "
        "`first_response`, `response`, or `cpu_per_key` of the driver"
    )
    group: str | None = declare("the group of users; None for figures of all users")
    transaction: str | None = declare("the name of the transaction in the tape; None for other figures than its own")
    value: float = declare(
        "the median on this node in seconds; of `cpu_per_key` the mean; of `failing_users` the share of the users"
    )
    others: float = declare("the same of all other nodes together; of `cpu_per_key` the median")
