"""The object that `--json` prints and `summary.json` holds: what is known of a whole run, and its steps."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Unit
from cuesta.figures.search import SearchFigures
from cuesta.figures.step import LimitResult, PublishedComparison, StepFigures


@dataclass(frozen=True, slots=True)
class PastSaturation:
    """What a host did when more was offered than it can do, by steps that differ in nothing but their load."""

    swept: Annotated[Mapping[str, object], About("the other swept settings, which the steps share")]
    most_per_s: Annotated[float, About("the largest throughput: transactions per second", Unit.PER_SECOND)]
    most_at: Annotated[int, About("the step that gave it, counted from 0 (texts count from 1)")]
    steps: Annotated[list[int], About("the steps past saturation, to which at least 1.1 times as much was offered")]
    offered: Annotated[
        float,
        About("the most that was offered to any of them / `most_per_s`; N users offer N / (R₀ + Z + K)", Unit.COUNT),
    ]
    kept: Annotated[float, About("the smallest throughput of any of them / `most_per_s`", Unit.SHARE)]
    errors: Annotated[int, About("failures of the host and of lines in them", Unit.COUNT)]
    lost_users: Annotated[int, About("users without a line at their ends", Unit.COUNT)]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """A run. In JSON the figures of its last step stand beside these."""

    valid: Annotated[bool, About("whether the figures can be trusted")]
    invalid_because: Annotated[list[str], About("for each doubt: what was found; what to do", sentence=True)]
    ended: Annotated[str, About("how the run ended: `completed`, `interrupted`, `failed` or `cut off`")]
    interrupted: Annotated[bool, About("whether the user stopped the run; the figures are of the part before that")]
    limited_by: Annotated[
        str,
        About(
            "what limits the host, in one sentence, or that nothing did; `CONFLICT` where meters and response disagree "
            "(docs/capacity.md)"
        ),
    ]
    search: Annotated[SearchFigures | None, About("What a search found; None for other runs")]
    past_saturation: Annotated[
        list[PastSaturation], About("what closed loads beyond saturation did to throughput; empty where none was")
    ]
    planned_steps: Annotated[int, About("number of load steps in the plan", Unit.COUNT)]
    steps: Annotated[list[StepFigures], About("the figures of each step that was measured")]
    limits: Annotated[list[LimitResult], About("each limit of each step, and whether it was kept")]
    published: Annotated[list[PublishedComparison], About("each published figure of the plan beside the measured one")]
    run_folder: Annotated[str, About("the run folder")]
