"""The answer to a comparison of two versions in a sentence: by how much the new one differs, or why none can tell."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cuesta.analysis.compare.looks import fewest_pairs
from cuesta.analysis.compare.metrics import FAILED
from cuesta.analysis.compare.paired_figure import Claim, Estimate, PairedFigure
from cuesta.analysis.compare.versions import LEVEL, Verdict, VersionComparison
from cuesta.figures import Unit
from cuesta.ledger.versions import VersionsRecord
from cuesta.units import in_unit, many, minutes, seconds, seconds_between, share, unit_of, write_minus

REHEARSALS = 60
"""Seconds that the rehearsals of both versions may take."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """How a sentence speaks of a duration."""

    predicate: str
    """What a version does."""
    clause: str
    """What happens beside neighbours."""


PHRASES = {
    "echo.p50": Phrase("echoes a key", "a key echoes"),
    "echo.p95": Phrase("echoes one key in twenty", "one key in twenty echoes"),
    "response.p50": Phrase("answers", "an answer comes"),
    "response.p95": Phrase("gives one answer in twenty", "one answer in twenty comes"),
    "first_response.p50": Phrase("begins to answer", "an answer begins"),
    "whole_frame.p50": Phrase("shows a key whole", "a key is shown whole"),
}
"""By the name of a figure."""


def answer(comparison: VersionComparison) -> str:
    """The answer in one sentence, or in two if slow keys could hide a change."""
    match comparison.verdict:
        case Verdict.NOT_VALID:
            return f"not valid: {'; '.join([*comparison.why, *comparison.record.spoilt[:1]])}"
        case Verdict.REFUSED:
            return f"refused: {'; '.join(comparison.why)}"
        case Verdict.WORSE:
            return ". ".join([state_changes(comparison.worse, comparison), *explain_failures(comparison)])
        case Verdict.NO_WORSE:
            return ". ".join([state_changes(comparison.judged, comparison), *explain_guards(comparison)])
    return f"cannot tell: {explain_doubt(comparison)}"


def state_changes(figures: Sequence[PairedFigure], comparison: VersionComparison) -> str:
    """Each difference, and the change of the first in a word."""
    first, *others = figures
    more = "".join(f", and {state_difference(each, comparison, is_first=False)}" for each in others)
    return f"{state_difference(first, comparison)}{more}: {name_change(first)}"


def state_difference(figure: PairedFigure, comparison: VersionComparison, *, is_first: bool = True) -> str:
    """By how much a figure of the new version differs: `1.5 echoes a key 24.8 ms later than 1.4 [24.1–25.6 ms]`.

    The versions are named in the first sentence only.
    """
    base, new = comparison.record.names
    who, than = (f"{new} ", f" than {base}") if is_first else ("", "")
    difference, of_versions = figure.difference, comparison.record.compared == "versions"
    if phrase := PHRASES.get(figure.metric.name):
        does, size = phrase.predicate if of_versions else phrase.clause, seconds(abs(difference.value))
        if figure.claim == Claim.NO_WORSE and includes_zero(difference):
            as_base = f" as {base}" if is_first else ""
            return f"{who}{does} as quickly{as_base}{write_bounds(difference, figure.metric.unit)}"
        word = ("later", "sooner")[difference.value < 0]
    else:
        size, word = in_unit(abs(difference.value), figure.metric.unit), ("more", "less")[difference.value < 0]
        does = f"has {figure.metric.label}" if of_versions else f"{figure.metric.label} is"
    return f"{who}{does} {size} {word}{than}{write_bounds(difference, figure.metric.unit)}"


def includes_zero(difference: Estimate) -> bool:
    return difference.low is not None and difference.high is not None and difference.low <= 0 <= difference.high


def write_bounds(difference: Estimate, unit: Unit) -> str:
    """The interval of a difference, ` [24.1–25.6 ms]`; without signs if it has only one."""
    if difference.low is None or difference.high is None:
        return ""
    low, high = difference.low, difference.high
    if high < 0:
        low, high = -high, -low
    if unit != Unit.SECONDS:
        return f" [{in_unit(low, unit)} to {in_unit(high, unit)}]"
    return f" [{seconds_between(low, high)}]" if low > 0 else f" [{write_range(low, high)}]"


def write_range(low: float, high: float) -> str:
    """An interval of durations that may reach below zero: `−0.12 to 0.31 ms`."""
    unit, factor = unit_of(max(abs(low), abs(high)))
    places = 2 if max(abs(low), abs(high)) * factor < 9.995 else 1
    return f"{write_minus(f'{low * factor:.{places}f}')} to {write_minus(f'{high * factor:.{places}f}')} {unit}"


def name_change(figure: PairedFigure) -> str:
    """The change in a word or two: `slower`, `faster`, `no worse`."""
    is_duration, difference = figure.metric.unit == Unit.SECONDS, figure.difference
    if figure.claim == Claim.WORSE:
        return "slower" if is_duration else "worse"
    gain = difference.low if figure.metric.more_is_better else None if difference.high is None else -difference.high
    if gain is not None and gain > 0:
        return "faster" if is_duration else "better"
    return f"no worse within {figure.margin}"


def explain_failures(comparison: VersionComparison) -> Iterator[str]:
    """The first failure of the new version, if it fails more."""
    failed = [failure for run in comparison.new for failure in run.failures]
    if failed and any(figure.metric == FAILED for figure in comparison.worse):
        yield f"The first failure: {failed[0]}"


def explain_guards(comparison: VersionComparison) -> Iterator[str]:
    """What the guards could still hide, a sentence each."""
    for figure in comparison.guards:
        phrase = PHRASES.get(figure.metric.name)
        if figure.claim == Claim.NO_WORSE or phrase is None:
            continue
        if figure.missing:
            yield f"How late {phrase.clause} is not judged: {figure.missing}"
        elif figure.ratio and figure.ratio.high is not None:
            yield f"These pairs cannot exclude that {phrase.clause} {share(figure.ratio.high - 1)} later"


def explain_doubt(comparison: VersionComparison) -> str:
    """Why nothing can be told, and what would help."""
    record = comparison.record
    if not comparison.figures:
        return explain_no_pairs(record)
    undecided = [each for each in comparison.judged if each.claim != Claim.NO_WORSE]
    figure, *_ = [*undecided, *(each for each in comparison.guards if each.is_suspicious)]
    if figure.missing:
        return f"{figure.metric.label}: {figure.missing}"
    so_far = f"{state_difference(figure, comparison)} in {many(comparison.pairs, 'pair')}"
    return f"{so_far}, which may be more or less than {figure.margin}; {suggest_budget(figure, record)}"


def explain_no_pairs(record: VersionsRecord) -> str:
    if record.ended == "interrupted":
        return "interrupted before the first pair was complete"
    fewest = fewest_pairs(LEVEL / len(record.figures))
    needed = minutes(fewest * record.seconds_per_pair + REHEARSALS)
    pair = f"a pair takes {record.seconds_per_pair:.0f} s, and at least {fewest} are needed"
    return f"{minutes(record.budget)} are too short: {pair}; give about {needed}: --budget"


def suggest_budget(figure: PairedFigure, record: VersionsRecord) -> str:
    """How many more pairs would decide and how long they take; else how small a change these pairs can find."""
    if (more := figure.more_pairs) is not None:
        needed = record.budget + more * record.seconds_per_pair
        return f"about {many(more, 'more pair')} would decide: --budget {math.ceil(needed / 60)}m"
    if (least := figure.least_change) is not None:
        return f"too close to the margin for this noise: these pairs find changes of {share(least)}"
    return "too close to the margin for this noise: more pairs would hardly decide"
