"""A search on a terminal: what is believed of the limit, the trial that is made, and those before it on one axis.

The axis has the logarithms of loads. On it each trial has its load, and the interval in which the limit was believed to
be after it: from the first trial to the last it narrows.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from rich.text import Text

from cuesta.columns import wrap_text
from cuesta.live.rows import BAD, FAINT, GOOD, LABEL, Ranked, labelled
from cuesta.plain_text import plain
from cuesta.records.observation import SearchState, SearchTrial
from cuesta.units import count, digits, in_unit, many

FIRST_TRIALS = 3
"""Trials that are shown before the figures of the driver and the host."""
MOST_TRIALS = 40
FIGURES = 32
"""Columns of a trial's figures."""
LEAST_AXIS, WIDEST_AXIS = 8, 80


@dataclass(frozen=True, slots=True)
class Axis:
    """Loads from the lowest to the highest, as columns."""

    low: float
    high: float
    columns: int

    def column(self, load: float) -> int:
        """The column of a load, from 0."""
        if self.low <= 0 or self.high <= self.low:
            return self.columns // 2
        place = math.log(max(load, self.low) / self.low) / math.log(self.high / self.low)
        return min(round(place * (self.columns - 1)), self.columns - 1)


def rows_of_search(search: SearchState, width: int) -> Iterator[Ranked]:
    """What is shown of a search."""
    yield (
        0,
        labelled("SEARCH", Text.assemble(_belief(search), (f"  {' and '.join(map(plain, search.objective))}", FAINT))),
    )
    for number, row in enumerate(_now(search, width - LABEL)):
        yield (4 if number else 0), row
    if not search.trials:
        return
    axis, ends = _axis(search, width - LABEL - FIGURES)
    yield 1, labelled("TRIALS", Text(" " * FIGURES + ends, FAINT))
    for number, trial in enumerate(reversed(search.trials[-MOST_TRIALS:])):
        yield (1 if number < FIRST_TRIALS else 5), _trial(trial, search, axis, len(ends.partition(" ")[0]))
        for note in trial.notes if number == 0 else ():
            yield 4, labelled("", Text(plain(note), FAINT))


def _belief(search: SearchState) -> str:
    low, high = search.low, search.high
    if low is None or high is None:
        known = f"at least {_with_unit(low, search)}" if low else f"below {_with_unit(high, search)}" if high else ""
        return known or "nothing known yet"
    best = f"about {_with_unit(search.limit, search)}  " if search.limit else ""
    return f"{best}between {_number(low, search)} and {_number(high, search)}"


def _now(search: SearchState, width: int) -> Iterator[Text]:
    """What is being tried, and why."""
    choice = search.next
    name, text = f"TRIAL {len(search.trials) + 1}", ""
    if choice:
        text = f"{_with_unit(choice.load, search)}: {choice.because}"
    elif search.ended is not None:
        name, text = "ENDS", search.ended or "the limit is found"
    for number, row in enumerate(wrap_text(plain(text), width)):
        yield labelled("" if number else name, Text(row))


def _axis(search: SearchState, width: int) -> tuple[Axis | None, str]:
    """The axis, and the row above the trials: its ends, and a mark at the load that is being tried."""
    loads = [trial.load for trial in search.trials] + ([search.next.load] if search.next else [])
    bounds = [end for end in (search.low, search.high) if end]
    low, high = min(loads + bounds), max(loads + bounds)
    first, last = _number(low, search), _number(high, search)
    columns = min(width - len(first) - len(last) - 2, WIDEST_AXIS)
    if columns < LEAST_AXIS or low == high:
        return None, ""
    axis = Axis(low, high, columns)
    line = ["·"] * columns
    if search.next:
        line[axis.column(search.next.load)] = "▼"
    return axis, f"{first} {''.join(line)} {last}"


def _trial(trial: SearchTrial, search: SearchState, axis: Axis | None, indent: int) -> Text:
    value = "—" if trial.value is None or trial.unit is None else in_unit(trial.value, trial.unit)
    part = "" if trial.ratio is None else f"{trial.ratio:.0%}" if trial.ratio < 99.995 else "> 99 ×"
    verdict, style = {True: ("met", GOOD), False: ("missed", BAD), None: ("in doubt", FAINT)}[trial.kept]
    row = Text(f"{trial.number:>{LABEL - 3}}   {_number(trial.load, search):>5}  {value:>8} {part:>6}  ")
    row.append(f"{verdict:<8}", style)
    if axis:
        row.append(" " * (indent + 1)).append(_strip(trial, axis))
    return row


def _strip(trial: SearchTrial, axis: Axis) -> Text:
    """The load of a trial in the interval after it, whose ends are open where nothing bounds them."""
    low = 0 if not trial.low else axis.column(trial.low)
    high = axis.columns - 1 if trial.high is None else axis.column(trial.high)
    line = [" "] * axis.columns
    if trial.low or trial.high is not None:
        line[low : high + 1] = ["─"] * (high + 1 - low)
        line[low] = "├" if trial.low else "─"
        line[high] = "─" if trial.high is None else "┤"
    strip = Text("".join(line), FAINT)
    mark, style = {True: ("●", GOOD), False: ("○", BAD), None: ("?", FAINT)}[trial.kept]
    at = axis.column(trial.load)
    return Text.assemble(strip[:at], (mark, style), strip[at + 1 :])


def _number(load: float, search: SearchState) -> str:
    return count(load) if search.load == "users" else digits(load)


def _with_unit(load: float, search: SearchState) -> str:
    return many(round(load), "user") if search.load == "users" else f"{digits(load)}/s"
