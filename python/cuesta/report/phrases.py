"""Sentences that reports share."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cuesta import _native
from cuesta.analysis.capacity.asymptotes import HeavyLoadAsymptote
from cuesta.analysis.law import agrees
from cuesta.analysis.limits import NOT_DECIDED
from cuesta.analysis.planned import shown
from cuesta.analysis.summary import Summary
from cuesta.analysis.waits import is_stuck
from cuesta.columns import cut
from cuesta.figures.counts import DueAccount
from cuesta.figures.durations import KernelTimes
from cuesta.figures.limit import Limit
from cuesta.figures.reference import Reference
from cuesta.figures.step import (
    DriverLoad,
    Fairness,
    LimitResult,
    PublishedComparison,
    ResponseLaw,
    ScreenCost,
    StepFigures,
)
from cuesta.line_kinds import without_settings
from cuesta.records.meter_figure import MeterFigure
from cuesta.report.model import Tone
from cuesta.target import BUILTIN_HOST
from cuesta.units import ABSENT, AT_LEAST, count, digits, in_unit, many, named, seconds, share

LOADS = {
    "closed": "the next input is due a think time after the answer",
    "paced": "inputs are due at fixed times",
    "open": "inputs arrive at a given rate, whatever the host does",
}


LOOPS = ("Forever", "Repeat")
TYPES_NOTHING = ("Set", "Env", "Require", "Output", "Hide", "Show", "Sleep", "Think", "Transaction", "End")
"""Words of a tape that send no key."""
UNHINDERED = "if nobody had to wait"
"""The asymptote of a lightly loaded system."""


def ceiling(heavy: HeavyLoadAsymptote) -> str:
    """Name the asymptote of a saturated system."""
    return f"ceiling set by {heavy.resource}"


def cause(name: str) -> str:
    """The label of a cause of CPU time: `page faults`."""
    return name.replace("_", " ")


def tiers(*figures: MeterFigure[Any]) -> str:
    """The tiers of figures, each once; empty if no figure has one."""
    return ", ".join(dict.fromkeys(figure.tier for figure in figures if figure.tier))


def in_brackets(*figures: MeterFigure[Any]) -> str:
    """The tiers of figures in brackets; empty if no figure has one."""
    names = tiers(*figures)
    return f" ({names})" if names else ""


def on_time(summary: Summary) -> str:
    """Why a valid run can be believed. The steps of a search that are in doubt do not count."""
    in_doubt = {doubted.step for doubted in summary.doubts}
    steps = [step for step in summary.steps if step.step not in in_doubt]
    late = [step.lateness.p99 for step in steps if step.lateness.p99 is not None]
    due = [step.due for step in steps if step.due and step.due.never_begun]
    keys = f"the driver kept up: 99 % of keys sent at most {seconds(max(late))} late" if late else ""
    never = sum(each.never_begun for each in due)
    begun = f"{count(never)} of {count(sum(each.count for each in due))} that were due were never begun" if due else ""
    return "; ".join(filter(None, (keys, begun))) or "nothing raised a doubt"


def account(due: DueAccount) -> str:
    failed = f" (of it {count(due.failed)} given up or without a line)" if due.failed else ""
    begun = f"{count(due.done)} done{failed} + {count(due.under_way)} under way"
    rest = f"{count(due.waiting)} waiting for a user + {count(due.skipped)} skipped"
    return f"{count(due.count)} {'=' if due.adds_up else '≠'} {begun} + {rest}"


def kept(verdict: LimitResult) -> str:
    """Whether a limit was kept or crossed, or why neither can be said."""
    if verdict.undecided is not None:
        return NOT_DECIDED
    return "kept" if verdict.ok else "crossed" if verdict.value is not None else "not measured"


def tone_of(verdict: LimitResult) -> Tone:
    return "good" if verdict.ok else "bad" if verdict.undecided is None else "notice"


def doubts(summary: Summary) -> list[tuple[str, str]]:
    """Reasons against a run, with advice; each piece of advice once."""
    advices = [doubted.doubt.advice for doubted in summary.invalidating]
    unsaid = ["" if advice in advices[:index] else advice for index, advice in enumerate(advices)]
    return [(str(doubted), advice) for doubted, advice in zip(summary.invalidating, unsaid, strict=True)]


def with_advice(doubt: tuple[str, str]) -> str:
    return " → ".join(filter(None, doubt))


def end_of(summary: Summary) -> str:
    """Why a run is incomplete, in a word or two; empty for a complete one."""
    words = {"completed": "", "failed": "the driver failed", "cut off": "the record breaks off"}
    return words.get(summary.ended, summary.ended)


def how_it_ended(summary: Summary) -> str:
    """How far an incomplete run got; empty for a complete one."""
    if not (word := end_of(summary)):
        return ""
    recorded = summary.recorded
    until = max((row.start + row.length for agent in recorded.agents for row in agent.intervals), default=0.0)
    # A search plans a trial at a time, so that its end was never planned.
    planned = None if summary.search else max((step.end for step in recorded.steps.values()), default=None)
    if not until:
        return f"{word}: nothing was recorded"
    of = f" of {seconds(planned)} planned" if planned else ""
    return f"{word}: recorded are {seconds(until)}{of}; below is what was measured until then"


def load(step: StepFigures) -> str:
    short = step.seconds < step.planned_seconds - 0.5
    planned = f" of {seconds(step.planned_seconds)} planned" if short else ""
    return f"{many(step.users, 'user')}, {step.load} load, measured for {seconds(step.seconds)}{planned}"


def load_meaning(step: StepFigures) -> Iterator[str]:
    kind = step.load.partition(":")[0]
    if kind in LOADS:
        yield f"{kind} load: {LOADS[kind]}"


def screens(cost: ScreenCost) -> str:
    each = f"{digits(cost.bytes_each / 1024)} KiB each"
    own = f"; {seconds(cost.awaited)} of it in a response" if cost.awaited else ""
    return f"{many(cost.count, 'screen')}, {each}, drawn in {share(cost.drawing)} of a core per thread{own}"


def per_s(rate: float | None) -> str:
    return ABSENT if rate is None else f"{digits(rate)}/s"


def limit_value(verdict: LimitResult, summary: Summary) -> str:
    """The measured value of a limit in the limit's own unit, or why there is none."""
    figure = Limit.read(verdict.limit).figure
    step = next((step for step in summary.steps if step.step == verdict.step), summary.last)
    unsteady = verdict.is_duration and not step.settled.steady
    if verdict.value is not None:
        own = ", over a tenth of it this driver's" if figure.metric in step.driver.voids else ""
        value = AT_LEAST * verdict.at_least + in_unit(verdict.value, figure.unit)
        return value + (", no steady state" if unsteady else "") + own
    if unsteady:
        return "no steady state"
    typed = any(step.keystrokes.count for step in summary.steps)
    timed = any(step.echo.count for step in summary.steps)
    return NO_ECHO if figure.metric in OF_ECHO and typed and not timed else "nothing was measured for it"


def limit_said(verdict: LimitResult, summary: Summary) -> str:
    """The measured value of a limit, and why it does not decide, if it does not."""
    return ": ".join(filter(None, (limit_value(verdict, summary), verdict.undecided)))


OF_ECHO = ("echo", "echo_from_sent")
NO_ECHO = "the tape times no echo; add `Set Echo screen`"
UNMEASURED = "nothing"


def beside(each: PublishedComparison) -> tuple[str, str, str]:
    """The measured value, the published value, and their ratio."""
    unit = Reference.read(each.figure).unit
    measured = UNMEASURED if each.measured is None else AT_LEAST * each.at_least + in_unit(each.measured, unit)
    if each.step is None:
        measured += f" (no step of {many(each.users or 0, 'user')})"
    published = f"{each.bound or ''} {in_unit(each.published, unit)}".strip()
    return measured, published, ABSENT if each.ratio is None else f"{each.ratio:.3g} × published"


def inflation(kernel: KernelTimes) -> str:
    """The part of a response time that the driver itself adds."""
    k, extra = kernel.kernel_response, kernel.inflation
    u = kernel.user_response
    by = f"by {seconds(extra.p50)}, p99 by {seconds(extra.p99)}" if extra.p50 > 0 else "by nothing measurable"
    return (
        f"from the last key to the first sign of an answer, {many(k.count, 'transaction')}: the kernel saw "
        f"p50 {seconds(k.p50)} p99 {seconds(k.p99)}, the driver p50 {seconds(u.p50)} p99 {seconds(u.p99)}: "
        f"the driver inflates the median {by}"
    )


def own_part(driver: DriverLoad) -> str:
    """What the driver adds to an echo; empty if that is not known."""
    own = driver.own
    return (
        f"{seconds(own.p50)} are this driver's (p99 {seconds(own.p99)}); the kernel saw the rest" if own.count else ""
    )


NO_OWN_PART = "not known what is this driver's: the kernel stamps tcp and telnet lines only (--stamps)"


def explained(by_name: Mapping[str, int]) -> str:
    """Names of errors with their counts, and what the most frequent one means: `flood 2: the host sent too much`."""
    most = max(by_name, key=lambda name: by_name[name], default="")
    happened = _native.failures().get(most, "").rstrip(".").replace("`", "")
    means = f"{happened[:1].lower()}{happened[1:]}"
    return ": ".join(filter(None, (named(by_name), f"{most} means {means}" if len(by_name) > 1 and means else means)))


def spinning(driver: DriverLoad) -> str:
    """How much of the driver's CPU time was spent to be exact."""
    return f", of it {share(driver.spun)} spent awake to be on time (--no-spin)" if driver.spun else ""


def fairness(fair: Fairness) -> str:
    return (
        f"Jain's index {fair.jain:.3f} of {many(fair.users, 'user')}: {how_fair(fair.jain)}; slowest: {whose(fair)}, "
        f"mean response {seconds(fair.worst_mean)} (median of the users {seconds(fair.median)})"
    )


FAIR, UNFAIR = 0.9, 0.7
"""Users are served alike from the first value of Jain's index on, and unlike below the second."""


def how_fair(jain: float) -> str:
    return "good" if jain >= FAIR else "middling" if jain >= UNFAIR else "bad"


def whose(fair: Fairness) -> str:
    """The slowest user, with the group's name."""
    return f"user {fair.worst_user} of {fair.worst_group}"


def law(law: ResponseLaw) -> str:
    if agrees(law):
        return "consistent: nothing was left uncounted"
    gap = f"{share(abs(law.error))} of a cycle, where chance makes ±{share(law.expected_gap)}"
    return f"INCONSISTENT: something was left uncounted, or counted twice: {gap}"


def law_terms(law: ResponseLaw) -> str:
    """Show the law's terms."""
    return (
        f"users ÷ throughput − thinking − typing = {digits(law.n)} ÷ {digits(law.x)}/s − {_term(law.z)} "
        f"− {_term(law.k)} = {seconds(law.r_predicted)}; measured since sent: {seconds(law.r_measured)}: they differ "
        f"by {share(abs(law.error))} of a cycle. "
        f"The edges of so short an interval make ±{share(law.expected_gap)} by themselves"
    )


def _term(value: float) -> str:
    """Write a term of a subtraction; one below zero in brackets."""
    return seconds(value) if value >= 0 else f"({seconds(value)})"


def no_law(step: StepFigures) -> Iterator[str]:
    if step.load != "closed":
        yield f"not checked: that needs a closed load, and this one is {step.load}"


def swept_apart_from_users(step: StepFigures) -> str:
    """The values of all swept settings except the number of users, and the seed, which makes repeats."""
    other = {name: shown(name, value) for name, value in step.swept.items() if last_of(name) not in ("users", "seed")}
    return ", ".join(f"{name.removeprefix('group.')} {value}" for name, value in other.items())


def last_of(name: str) -> str:
    """The last part of a dotted setting."""
    return name.rpartition(".")[2]


LONGEST_VALUE = 24
"""Columns of a setting's value that are shown: a service may have a long command."""


def named_settings(settings: Iterable[tuple[str, str]]) -> str:
    """List swept settings with their values, as `path kernel, tmux 20ms`."""
    return ", ".join(f"{name.removeprefix('host.')} {cut(value, LONGEST_VALUE)}" for name, value in settings)


def facts_of_machine(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    """Facts about a machine; unknown ones are left out."""
    memory = facts.get("memory")
    known = {**facts, "memory": f"{memory / 2**30:.1f} GiB" if isinstance(memory, int | float) else None}
    return [(name, _listed(value)) for name, value in known.items() if value not in (None, "", [])]


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def class_of(group: str, transaction: str) -> str:
    """The name of a class of transactions: only the group's, if the transaction has the same name."""
    return group if group == transaction else f"{group}: {transaction}"


def targets(summary: Summary) -> str:
    names = [str(name) for name in summary.recorded.run.get("host", {}).get("targets", [])]
    known = ["the built-in host (host:)" if name == BUILTIN_HOST else without_settings(name) for name in names]
    return " and ".join(known) if len(known) < 3 else f"{len(known)} targets"


def waiting_in_vain(summary: Summary) -> Iterator[str]:
    """Users who, at the end of the last step, had waited far longer than any answer took."""
    step = summary.last
    longest = step.response.longest or 0.0
    rows = [row for agent in summary.recorded.agents for row in agent.users if row.step == step.step]
    waited: dict[str, list[float]] = {}
    for row in rows:
        if row.waits and is_stuck(row.waited, longest):
            waited.setdefault(row.waits, []).append(row.waited)
    for what, times in waited.items():
        # A `prompt` is whatever a Wait without a key before it is for, such as a text anywhere on the screen.
        at_wait = f"at a {_wait(summary.recorded.folder)} of the tape with no key before it"
        wanted = at_wait if what == "prompt" else f"for an {what}"
        yield f"{many(len(times), 'user')} had waited up to {seconds(max(times))} {wanted}, in vain"


def _wait(folder: Path) -> str:
    """`Wait+Screen` or the like, if that is the kind of all waits of the tapes with no key before them; else `Wait`."""
    place = folder / "tapes"
    try:
        tapes = [_native.Tape.parse(tape.read_text("utf-8"), "", str(place)) for tape in place.glob("*.tape")]
    except (OSError, ValueError, _native.TapeError):
        return "Wait"
    kinds = set[str]()
    for tape in tapes:
        typed = False
        for word, _ in tape.outline():
            if word == "Source":
                return "Wait"
            if word.startswith("Wait") and not typed:
                kinds.add(word)
            # A loop begins again after its last wait.
            typed = word not in LOOPS and not word.startswith("Wait") and (typed or word not in TYPES_NOTHING)
    return kinds.pop() if len(kinds) == 1 else "Wait"
