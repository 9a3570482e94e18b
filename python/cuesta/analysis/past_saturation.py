"""What a sweep did past saturation: whether throughput fell, and what was lost.

N users of a closed load offer N / (R₀ + Z + K) transactions a second, the light-load asymptote (R₀ is the response of
the lightest load). A load is past saturation if that exceeds the largest throughput.
"""

from collections.abc import Iterator, Mapping, Sequence

from cuesta.analysis.planned import last_part
from cuesta.figures.step import ResponseLaw, StepFigures
from cuesta.figures.whole_run import PastSaturation

LOAD = ("users", "think", "stagger")
"""Swept settings that change the load alone; steps that differ only in them are loads of one host."""
PAST = 1.1
"""From how many times the largest throughput on an offered load is called past saturation: chance may give a little."""

Loaded = tuple[StepFigures, ResponseLaw]


def past_saturation(steps: Sequence[StepFigures]) -> list[PastSaturation]:
    """Judge each series of steps that differ only in their closed load; one that nothing saturated is left out."""
    return [found for swept, series in group_series(steps) if (found := judge_series(swept, series))]


def group_series(steps: Sequence[StepFigures]) -> Iterator[tuple[Mapping[str, object], list[Loaded]]]:
    """Group the steps by the settings that are no load."""
    found: dict[str, tuple[Mapping[str, object], list[Loaded]]] = {}
    for step in steps:
        if step.law:
            swept = {name: value for name, value in step.swept.items() if last_part(name) not in LOAD}
            found.setdefault(str(swept), (swept, []))[1].append((step, step.law))
    yield from found.values()


def judge_series(swept: Mapping[str, object], series: Sequence[Loaded]) -> PastSaturation | None:
    least_response = min(law.r_measured for _, law in series)
    best, most = max(((step, law.x) for step, law in series), key=lambda each: each[1])
    offered = {step.step: law.n / (least_response + law.z + law.k) / most for step, law in series}
    past = [(step, law) for step, law in series if offered[step.step] >= PAST]
    if not past:
        return None
    return PastSaturation(
        swept=swept,
        most_per_s=most,
        most_at=best.step,
        steps=[step.step for step, _ in past],
        offered=max(offered[step.step] for step, _ in past),
        kept=min(law.x for _, law in past) / most,
        errors=sum(step.errors.count for step, _ in past),
        lost_users=sum(step.lost_users for step, _ in past),
    )
