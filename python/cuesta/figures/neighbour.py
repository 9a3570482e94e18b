"""The figures of the neighbour that ran beside the measurement (the plan's `beside`)."""

from cuesta.figures.about import Unit, declare, figure_table


@figure_table
class NeighbourFigures:
    """The neighbour in the measurement interval."""

    command: str = declare("the command, by the plan")
    seconds: float = declare("time of the interval in which it ran", Unit.SECONDS, "neighbour ran for")
    starts: int = declare(
        "how often it was started, up to the end of the interval: again each time that it had ended",
        Unit.COUNT,
        "neighbour's starts",
    )
    cpu: float | None = declare(
        "CPU time of all its processes per second: 1 is a whole CPU; None if it was not recorded",
        Unit.COUNT,
        "CPUs that the neighbour used",
    )
    ended: str | None = declare("how it ended the last time, if by itself", default=None)
    said: str | None = declare(
        "the last row that it printed on standard error, if it ended by itself with an error", default=None
    )
