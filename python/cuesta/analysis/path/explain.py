"""The sentence on where the time of slow keys goes: the largest parts that make up most of it, in words."""

from collections.abc import Sequence
from dataclasses import replace

from cuesta.analysis.capacity.findings import NOTICEABLE, format_part
from cuesta.analysis.path.phrases import describe_hop
from cuesta.figures.path import PathBand, PathHop
from cuesta.figures.step import StepFigures
from cuesta.units import seconds

SLOW = 95.0
"""The percentile whose keys are explained: what many limits are about, and rare enough to be what annoys."""
MEDIAN = 50.0
MOST_OF_IT = 0.8
"""Share of the time that the parts of a sentence make up together, if so few can."""
PARTS = 4
TOO_SMALL = 0.02
"""Share of the time below which a part is not told."""
ENOUGH = 10
"""Followed keys from which on their slow ones are explained."""
MAIN = 0.4
"""Share of a usual key from which on one part is told beside it."""


def explain_step(step: StepFigures, what: str) -> str:
    """What slow keys or slow answers of a step wait for, those first that users wait for: `key` or `transaction`.

    Empty where it is not known, or all are quick.
    """
    paths = ((step.echo.path, "an echo"), (step.response.path, "a response"))
    for path, name in reversed(paths) if what == "transaction" else paths:
        if path and path.keys >= ENOUGH and (sentence := explain_bands(path.bands, name)):
            return sentence
    return ""


def explain_bands(bands: Sequence[PathBand], what: str) -> str:
    """`of an echo of 61.0 ms (p95), 40.1 are …; 12.0 …`; empty if that is too short to be felt."""
    slow = next((band for band in bands if band.percentile == SLOW), None)
    if slow is None or slow.seconds < NOTICEABLE:
        return ""
    parts = [f"{format_part(part.seconds, slow.seconds)} {describe_hop(part)}" for part in pick_parts(slow.parts)]
    first, *others = [part.replace(" ", " are ", 1) if number == 0 else part for number, part in enumerate(parts)]
    return f"of {what} of {seconds(slow.seconds)} (p{slow.percentile:g}), {'; '.join([first, *others])}"


def pick_parts(parts: Sequence[PathHop]) -> list[PathHop]:
    """The largest parts that make up MOST_OF_IT, at most PARTS."""
    picked, told = list[PathHop](), 0.0
    for part in parts:
        if picked and (told >= MOST_OF_IT or part.share < TOO_SMALL or len(picked) == PARTS):
            break
        picked.append(part)
        told += part.share
    return picked


def name_main_part(step: StepFigures) -> str:
    """What most of a usual echo is, `40.1 of it …`; empty if no hop is, or it is too short to be felt."""
    path, median = step.echo.path, step.echo.p50
    usual = next((band for band in path.bands if band.percentile == MEDIAN), None) if path else None
    if path is None or usual is None or path.keys < ENOUGH or usual.seconds < NOTICEABLE or not usual.parts:
        return ""
    main = usual.parts[0]
    if main.share < MAIN or median is None or main.seconds > median:  # others' keys may be quicker than followed ones
        return ""
    return f"{format_part(main.seconds, median)} of it {describe_hop(replace(main, pid=None))}"
