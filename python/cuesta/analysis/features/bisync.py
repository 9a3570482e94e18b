"""Bisync lines: what each carried, and all together."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from cuesta.figures.bisync import BisyncCounters, BisyncFigures, BisyncLine
from cuesta.figures.step import StepFigures
from cuesta.records.rows import UserRow

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords

BITS = 8
"""Bits of a character on a synchronous line."""


def add_figures(step: StepFigures, records: "StepRecords") -> StepFigures:
    """Add `bisync`."""
    return replace(step, bisync=sum_lines(records.users, step.seconds))


def sum_lines(users: Iterable[UserRow], seconds: float) -> BisyncFigures | None:
    """Sum up what lines carried in `seconds` of measuring; None without bisync lines."""
    carried = [(user, user.bisync) for user in users if user.bisync is not None]
    if not carried or not seconds:
        return None
    total = Counter[str]()
    for _, line in carried:
        total.update(line)
    sent, received = total["text_sent"] / seconds, total["text_received"] / seconds
    return BisyncFigures(
        characters_per_s=sent + received,
        characters_out_per_s=sent,
        characters_in_per_s=received,
        messages_per_s=total["sent"] / seconds,
        not_delivered=total["not_delivered"],
        in_doubt=total["in_doubt"],
        counters=BisyncCounters(**{each.name: total[each.name] for each in fields(BisyncCounters)}),
        lines=[_line(user, line, seconds) for user, line in sorted(carried, key=lambda each: each[0].user)],
    )


def _line(user: UserRow, line: Mapping[str, int], seconds: float) -> BisyncLine:
    sent, received = line["text_sent"], line["text_received"]
    cps = (sent + received) / seconds
    return BisyncLine(user.group, user.user, line["sequence"], line["received"], sent, received, cps, BITS * cps)
