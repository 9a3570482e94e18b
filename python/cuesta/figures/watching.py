"""What those who watched a run marked, and when they held the start of users."""

from cuesta.figures.about import Unit, declare, figure_table


@figure_table
class MarkFigures:
    """An instant that somebody who watched marked, or at which somebody steered the run."""

    seconds: float = declare("when it was, from the start of the run", Unit.SECONDS)
    step: int | None = declare(
        "the step that was under way, its settling included, counted from 0 (texts count from 1); None if none was"
    )
    note: str = declare("what was said of it")


@figure_table
class HeldStarts:
    """A time in which users who had not started waited because somebody held them."""

    begin: float = declare("when it began, from the start of the run", Unit.SECONDS)
    end: float | None = declare("when it ended; None if it lasted to the end of the run", Unit.SECONDS)
    measured: float = declare("how much of it was in the measurement intervals of steps", Unit.SECONDS)
