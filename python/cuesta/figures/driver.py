"""The figures of the driver itself in a load step: what driving cost, and each agent's part."""

from dataclasses import dataclass, field
from typing import Annotated

from cuesta.figures.about import About, Better, Unit
from cuesta.figures.durations import LATENESS, RESPONSE, Distribution


@dataclass(frozen=True, slots=True)
class ScreenCost:
    """What the users' screens cost the driver."""

    count: Annotated[int, About("number of screens", Unit.COUNT, "screens")]
    bytes_each: Annotated[
        float, About("memory of one screen, computed from its size", Unit.BYTES, "memory of a screen")
    ]
    drawing: Annotated[
        float,
        About("seconds per second and thread spent drawing on screens, sampled", Unit.SHARE, "drawing on screens"),
    ]
    awaited: Annotated[
        float | None,
        About(
            "drawing while a user waited for its answer, per transaction, sampled: it is a part of the response",
            Unit.SECONDS,
            "drawing in a response",
            Better.LESS,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class DriverLoad:
    """The driver's own consumption: that of its busiest agent."""

    cpu: Annotated[
        float,
        About("seconds of CPU per second and thread: a share of one core", Unit.SHARE, "driver CPU", Better.LESS),
    ]
    run_wait: Annotated[
        float,
        About(
            "seconds per second and thread in which a thread was ready to run and had no CPU",
            Unit.SHARE,
            "driver waiting for a CPU",
            Better.LESS,
        ),
    ]
    spun: Annotated[
        float,
        About(
            "seconds of CPU per second and thread in which a thread with time to spare waited awake, to be exact",
            Unit.SHARE,
            "driver spinning",
        ),
    ]
    own: Annotated[
        Distribution,
        About(
            "What the driver itself adds to the time from a key to the first character after it: what the kernel did "
            "not see of it, on lines that it stamps",
            None,
            "driver's own part of an echo",
            Better.LESS,
        ),
    ]
    threads: Annotated[int, About("threads of all agents", Unit.COUNT, "driver threads")]
    rss_per_user: Annotated[int | None, About("resident memory / users", Unit.BYTES, "memory per user", Better.LESS)]
    screens: Annotated[ScreenCost | None, About("None where no user looked at one")]
    voids: Annotated[
        list[str],
        About("durations of which over a tenth is lateness or drawing: they are the driver's as much as the host's"),
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """One agent; a biased one differs from the others."""

    agent: Annotated[int, About("the number of the agent")]
    response: Annotated[Distribution, RESPONSE]
    lateness: Annotated[Distribution, LATENESS]
    cpu: Annotated[float, About("seconds of CPU per second and thread", Unit.SHARE)]
    run_wait: Annotated[
        float, About("seconds per second and thread in which a thread was ready to run and had no CPU", Unit.SHARE)
    ]
