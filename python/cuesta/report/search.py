"""A search: its result in a sentence, a row for each trial with the bracket after it, and the line that a terminal
shows for each trial while the search goes on."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.search import Outcome, SearchResult, Trial, TrialRow, Try
from cuesta.analysis.search.trial import worst_limit
from cuesta.analysis.summary import Summary
from cuesta.figures.limit import Limit
from cuesta.figures.step import LimitResult, StepFigures
from cuesta.report.figure import FEW, MARK, mark_few
from cuesta.report.model import Cell, Part, Plots, Remark, Section, Table, Words
from cuesta.report.path_section import describe_growth
from cuesta.report.plots.against_load import plot_trials
from cuesta.units import ABSENT, in_unit, many, seconds

PURPOSES = {
    "bracket": "doubling, to find a load that misses",
    "refine": "near the limit, to narrow the interval",
    "confirm": "to show that the load meets the objective",
    "recover": "to see whether the host has recovered",
    "check": "to see whether the host still does what it did at first",
    "repeat": "again, because a trial there did not count or decide",
}
LEADS = {
    "host": "the host sets the limit",
    "host gave out": "beyond the limit the host gave out",
    "driver": "NOT the host's limit: the driver could do no more",
    "users": "NOT the host's limit: users were too few",
    "highest": "the host's limit is higher: no more was tried",
    "lowest": "even the lowest load misses it",
    "budget": "the search was ended early",
    "doubts": "the search could not go on",
    "changed": "the host has changed since then",
}
"""What `limited_by` means, for the first sentence."""

FEW_NOTES = 4
"""Reasons that a first screen lists."""


def state_result(search: SearchResult, where: str) -> str:
    """One sentence; it claims nothing that was not measured."""
    outcome, method = search.outcome, search.method
    meets = f"at {where} meet {name_objective(search)}"
    if outcome.users is None:
        result = f"no load that was tried {meets.replace('meet', 'met')}"
    else:
        result = f"{'about' if outcome.interval[1] else 'at least'} {method.with_unit(outcome.users)} {meets}"
    return "; ".join(
        filter(None, (result + write_interval(search), state_certified(search), LEADS[outcome.limited_by]))
    )


def name_objective(search: SearchResult) -> str:
    return " and ".join(search.objective)


def write_interval(search: SearchResult) -> str:
    """The interval in brackets; for the classification of RFC 9971 the two bounds, which are no interval."""
    low, high = search.outcome.interval
    if low is None or high is None:
        return ""
    span = search.method.span(low, high)
    if search.method.rule == "rfc9971":
        return f" (bounds by RFC 9971: {span})"
    return f" (90 % interval: {span})"


def state_certified(search: SearchResult) -> str:
    if search.method.rule == "rfc9971" or search.outcome.users is None:
        return ""
    load, by = search.outcome.certified, count_confirming(search)
    return "none was confirmed" if load is None else f"{search.method.with_unit(load)} confirmed by {by}"


def count_confirming(search: SearchResult) -> str:
    return many(search.method.confirmations, "trial")


def section(summary: Summary) -> Iterator[Section]:
    search = summary.search
    if search is None:
        return
    trial_rows = search.replay.rows
    notes = [*describe_growth(summary), *list_notes(trial_rows), *list_backlogs(summary)]
    parts: list[Part] = [Remark(describe_state(search), "" if search.outcome.verdict == "regular" else "notice")]
    parts += [trial_table(summary, search, trial_rows)] if trial_rows else []
    if search.outcome.limited_by == "budget":
        notes.insert(0, f"to go on: cuesta search --resume {summary.recorded.folder!s}")
    drawn = list(plot_trials(summary, search))
    more: list[Part] = [Plots(drawn)] if drawn else []
    more += [Remark(each, "faint") for each in explain_rfc9971(search)]
    yield Section("Search", [*parts, *map(Remark, notes[:FEW_NOTES])], [*map(Remark, notes[FEW_NOTES:]), *more])


def describe_state(search: SearchResult) -> str:
    outcome = search.outcome
    ended = f"{outcome.verdict} after {many(outcome.trials, 'trial')}: {outcome.why}"
    if outcome.breach is None:
        return f"{ended}; no load was shown to miss the objective"
    was = "was" if search.method.with_unit(outcome.breach) == "1 user" or not search.method.whole else "were"
    return f"{ended}; {search.method.with_unit(outcome.breach)} {was} shown to miss the objective"


def list_notes(trial_rows: Sequence[TrialRow]) -> Iterator[str]:
    """Objections to trials and reasons why trials do not count, each once."""
    of_reasons: dict[str, list[int]] = {}
    for row in trial_rows:
        for reason in (*row.trial.doubts, *row.trial.against):
            of_reasons.setdefault(reason, []).append(row.trial.step + 1)
    measured = {row.trial.step + 1 for row in trial_rows}
    if absent := sorted(set(range(1, max(measured, default=0))) - measured):
        yield f"trial {', '.join(map(str, absent))}: ended before it was measured"
    for reason, numbers in of_reasons.items():
        yield f"trial {', '.join(map(str, numbers))}: {reason}"


def list_backlogs(summary: Summary) -> Iterator[str]:
    """How long the backlog of one trial delayed the next."""
    for number, step in enumerate(summary.recorded.run["steps"], 1):
        if backlog := step.get("trial", {}).get("backlog"):
            lasted = seconds(backlog["seconds"])
            done = f"was worked off in {lasted}" if backlog["drained"] else f"was not worked off in {lasted}"
            yield f"trial {number}: what the trial before had left undone {done}, before this one was measured"


def explain_rfc9971(search: SearchResult) -> Iterator[str]:
    if search.method.rule == "rfc9971":
        yield (
            "a load is an upper bound if too large a share of its trials' time missed the objective, a lower bound if "
            "no more trials can change that it did not (RFC 9971); near the limit both depend on chance"
        )
        return
    yield (
        "the interval comes from a line through the logarithms of the trials near the limit; a load is confirmed if "
        f"the upper 95 % bound of {count_confirming(search)} there meets the objective"
    )


def trial_table(summary: Summary, search: SearchResult, trial_rows: Sequence[TrialRow]) -> Table:
    steps = {step.step: step for step in summary.steps}
    rows: list[tuple[Cell, ...]] = [
        (
            str(row.trial.step + 1),
            search.method.number(row.trial.load),
            *measured_cells(steps[row.trial.step], search),
            word_verdict(row.trial),
            write_estimate(row, search),
            Words(row.decision.purpose, PURPOSES[row.decision.purpose]) if row.decision else "",
            row.decision.because if row.decision else "",
        )
        for row in trial_rows
    ]
    names = [str(Limit.read(text).figure) for text in search.objective]
    about = Words("limit", "where the limit is by the trials so far, with the 90 % interval")
    heads: list[Cell] = ["trial", "users" if search.method.whole else "rate/s", *names, "objective", about, "to"]
    heads.append("why that load")
    cells = (str(cell) for row in rows for cell in row[2 : 2 + len(names)])
    caption, because = FEW if any(cell.endswith(MARK) for cell in cells) else "", len(heads) - 1
    return Table(heads, rows, caption, wide={because}, wraps=because)


def measured_cells(step: StepFigures, search: SearchResult) -> list[str]:
    results = {result.limit: result for result in step.limits}
    return [write_value(results.get(text), step) for text in search.objective]


def write_value(result: LimitResult | None, step: StepFigures) -> str:
    if result is None or result.value is None:
        return ABSENT
    figure = Limit.read(result.limit).figure
    return in_unit(result.value, figure.unit) + mark_few(figure, step)


def word_verdict(trial: Trial) -> Words:
    if trial.doubts:
        return Words("in doubt", "it does not count: see the reason below", "faint")
    return Words("met", "", "good") if trial.met else Words("missed", "", "bad")


def trial_note(trial: Trial) -> str:
    return "; ".join((*trial.doubts, *trial.against))


def write_estimate(row: TrialRow, search: SearchResult) -> str:
    """The estimate of the limit after a trial."""
    if (loads := row.rounded_estimate(search.method)) is None:
        return ABSENT
    point, low, high = map(search.method.number, loads)
    return f"{point} ({low}–{high})"


def write_progress(summary: Summary, decision: Try | Outcome | None = None) -> str:
    """The line of the last trial while a search goes on: load, what was measured, what is believed, what comes next.

    `decision` is what comes next if the trials do not decide it: when time is up.
    """
    search = summary.search
    if search is None or not search.trials:
        return ""
    last = search.replay.rows[-1]
    step = next(step for step in summary.steps if step.step == last.trial.step)
    parts = [
        f"trial {last.trial.step + 1:>2}",
        f"{search.method.with_unit(last.trial.load):>10}",
        f"{name_worst(step, search)}",
        f"{word_verdict(last.trial).text}{': ' if trial_note(last.trial) else ''}{trial_note(last.trial)}",
        f"limit {write_estimate(last, search)}" if last.estimate else "",
        name_next(search, decision or search.replay.next),
    ]
    return "  ".join(filter(None, parts))


def name_worst(step: StepFigures, search: SearchResult) -> str:
    """The limit with the largest relative excess, and its measured value."""
    result = worst_limit(step)
    if result is None:
        return f"{', '.join(search.objective)}: not measured"
    return f"{Limit.read(result.limit).figure} {write_value(result, step)}"


def name_next(search: SearchResult, decision: Try | Outcome) -> str:
    if isinstance(decision, Try):
        return f"next {search.method.with_unit(decision.load)}: {decision.because}"
    return f"ends: {decision.why}"
