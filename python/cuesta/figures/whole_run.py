"""The object that `--json` prints and `summary.json` holds: what is known of a whole run, and its steps."""

from collections.abc import Mapping

from cuesta.figures.about import Unit, declare, figure_table
from cuesta.figures.search import SearchFigures
from cuesta.figures.step import LimitResult, PublishedComparison, StepFigures
from cuesta.figures.watching import HeldStarts, MarkFigures


@figure_table
class PastSaturation:
    """What a host did when more was offered than it can do, by steps that differ in nothing but their load."""

    swept: Mapping[str, object] = declare("the other swept settings, which the steps share")
    most_per_s: float = declare("the largest throughput: transactions per second", Unit.PER_SECOND)
    most_at: int = declare("the step that gave it, counted from 0 (texts count from 1)")
    steps: list[int] = declare("the steps past saturation, to which at least 1.1 times as much was offered")
    offered: float = declare(
        "the most that was offered to any of them / `most_per_s`; N users offer N / (R₀ + Z + K)", Unit.COUNT
    )
    kept: float = declare("the smallest throughput of any of them / `most_per_s`", Unit.SHARE)
    errors: int = declare("failures of the host and of lines in them", Unit.COUNT)
    lost_users: int = declare("users without a line at their ends", Unit.COUNT)


@figure_table
class RunFigures:
    """A run. In JSON the figures of its last step stand beside these."""

    valid: bool = declare("whether the figures can be trusted")
    invalid_because: list[str] = declare("for each doubt: what was found; what to do", sentence=True)
    ended: str = declare("how the run ended: `completed`, `interrupted`, `failed` or `cut off`")
    interrupted: bool = declare("whether the user stopped the run; the figures are of the part before that")
    limited_by: str = declare(
        "what limits the host, in one sentence, or that nothing did; `CONFLICT` where meters and response disagree "
        "(docs/capacity.md)"
    )
    search: SearchFigures | None = declare("What a search found; None for other runs")
    past_saturation: list[PastSaturation] = declare(
        "what closed loads beyond saturation did to throughput; empty where none was"
    )
    marks: list[MarkFigures] = declare("what those who watched marked, in order of time")
    starts_held: list[HeldStarts] = declare("when those who watched held the start of users; empty if they did not")
    unchecked_hosts: list[str] = declare(
        "targets whose hosts were trusted although their certificates were not checked (`insecure`, `verify=no`)"
    )
    left_behind: list[str] = declare(
        "what users left at web terminals that could not be removed, one sentence each; empty if nothing is left"
    )
    planned_steps: int = declare("number of load steps in the plan", Unit.COUNT)
    steps: list[StepFigures] = declare("the figures of each step that was measured")
    limits: list[LimitResult] = declare("each limit of each step, and whether it was kept")
    published: list[PublishedComparison] = declare("each published figure of the plan beside the measured one")
    run_folder: str = declare("the run folder")
