"""The sizes of answers, and whether they shrank: a host that says BUSY instead of what was asked answers quickly.

A size is the number of characters that came from the last key to the complete answer, echoes left out. It is not known
of answers whose wait may have ended before they did (`Wait+Screen`, `+Line`, `+Cursor`, `+Echo`).
"""

from collections.abc import Iterator, Mapping

from cuesta._native import Histogram
from cuesta.analysis.doubts import Doubt
from cuesta.figures.durations import Sizes
from cuesta.figures.step import StepFigures
from cuesta.units import count, many, share

PER_SECOND = 1e9
"""Characters in a second of a histogram of sizes, which counts a character as a nanosecond."""
APART = 2.0
"""An answer that is this many times shorter than the median is another answer, such as BUSY."""
SHORT = 10
"""Least median size: shorter answers are little more than a prompt, which may be met at its last blank or before it."""
LEAST_GROWTH = 0.1
"""Least growth of the share of short answers from the lightest load."""
ENOUGH = 10
"""Fewest answers that are no chance."""
ADVICE = "see what the host says instead (--cast), and count it: Expect, or a stricter Wait"
SizesOfClasses = Mapping[tuple[str, str], Histogram]
"""Sizes by group and transaction."""


def describe_sizes(histogram: Histogram | None) -> Sizes:
    if histogram is None or not histogram.count:
        return Sizes()
    p5, p50, p95 = (round(histogram.quantile(q) * PER_SECOND) for q in (0.05, 0.5, 0.95))
    least, greatest = (round(each * PER_SECOND) for each in (histogram.min, histogram.max))
    return Sizes(histogram.count, least, histogram.mean * PER_SECOND, p5, p50, p95, greatest)


def find_shrunk(steps: Mapping[int, tuple[StepFigures, SizesOfClasses]]) -> Iterator[tuple[int, Doubt]]:
    """Find steps in which answers of a class are shorter than with the fewest users, each with its doubt."""
    for name in dict.fromkeys(name for _, sizes in steps.values() for name in sizes):
        own = {number: sizes[name] for number, (_, sizes) in steps.items() if name in sizes}
        known = {number: sizes for number, sizes in own.items() if sizes.count >= ENOUGH}
        if len(known) < 2:
            continue
        lightest = min((steps[number][0] for number in known), key=lambda step: step.users)
        typical = known[lightest.step].quantile(0.5)
        if typical * PER_SECOND < SHORT:
            continue
        usual = share_up_to(known[lightest.step], typical / APART)
        for number, sizes in known.items():
            part = share_up_to(sizes, typical / APART)
            if part - usual > LEAST_GROWTH and part * sizes.count >= ENOUGH:
                than = f"{many(round(typical * PER_SECOND), 'character')} with {many(lightest.users, 'user')}"
                most = count(typical / APART * PER_SECOND)
                text = f"answers of {name[1]} shrank: {share(part)} have at most {most}, for {than}"
                yield number, Doubt(text, ADVICE, "host", "stopped", voids_limits=True, name="shrunk")


def share_up_to(histogram: Histogram, size: float) -> float:
    """The share of answers of at most a size, in seconds of the histogram."""
    return sum(number for edge, number in histogram.buckets() if edge <= size) / histogram.count
