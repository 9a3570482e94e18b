"""What operational laws say of a measured row that the model misses."""

from collections.abc import Iterator
from dataclasses import replace

from cuesta.analysis.predict.fitting import FittedModel
from cuesta.analysis.predict.points import Point
from cuesta.analysis.predict.prediction import MARGIN, Figure


def remark_on_laws(figure: Figure, model: FittedModel) -> Iterator[str]:
    observed = figure.measured
    law = observed.by_law if observed else None
    if observed is None or law is None or observed.response is not None:
        return
    known = figure.at.known_delay
    if known and law.value < known:
        yield f"R = N/X − Z is {law.value:.2f} s, below the {known:.2f} s that are known to pass on the line"
    if (
        figure.error
        and abs(figure.error) > 2 * MARGIN
        and model.limiting(figure.at)
        and (think := effective_think(model, observed))
    ):
        yield f"as if users thought {think:.1f} s instead of {figure.at.own:.2g} s"


def effective_think(model: FittedModel, observed: Point) -> float | None:
    """The think time at which the model gives the observed throughput; None if none does."""
    assert observed.throughput
    low, high = 0.0, observed.at.users / observed.throughput.value
    for _ in range(60):
        middle = (low + high) / 2
        said = model.throughput(replace(observed.at, think=middle, keying=0.0))
        low, high = (middle, high) if said > observed.throughput.value else (low, middle)
    return low if low > 0 else None
