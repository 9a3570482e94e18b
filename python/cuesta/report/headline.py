"""The beginning of a report: one sentence, the verdict, the figures that most readers want, and what is unusual."""

from collections.abc import Iterator, Mapping

from cuesta import _native
from cuesta.analysis.law import agrees
from cuesta.analysis.limits import NOT_DECIDED
from cuesta.analysis.neighbour import quote_command
from cuesta.analysis.own_part import choose_quoted, why_void
from cuesta.analysis.path.explain import name_main_part
from cuesta.analysis.planned import list_left_behind, list_unchecked
from cuesta.analysis.summary import Summary
from cuesta.analysis.unsteady import why_unsteady
from cuesta.figures import CATALOGUE
from cuesta.figures.durations import Distribution
from cuesta.figures.step import UNDONE, StepFigures
from cuesta.figures.system_under_test import CpuUse
from cuesta.line_kinds import without_settings
from cuesta.report import features, search
from cuesta.report.agents import describe_odd_nodes
from cuesta.report.diagnosis import list_causes
from cuesta.report.figure import ENOUGH, fact, is_weak, write_duration, write_figure, write_rate
from cuesta.report.frames import describe_costly_frames
from cuesta.report.host_section import list_host_doubts
from cuesta.report.law import describe_law
from cuesta.report.limits import limit_status
from cuesta.report.marks_section import describe_held
from cuesta.report.model import BigFigure, Remark, Section
from cuesta.report.probe_lines import describe_probe_lines
from cuesta.report.response_section import FAIR, describe_fairness
from cuesta.report.samples import describe_stuck_users
from cuesta.report.stalls import list_stalls
from cuesta.report.validity import name_ending
from cuesta.target import BUILTIN_HOST
from cuesta.units import count, join_words, list_counts, many, share


def headline(summary: Summary) -> str:
    """One sentence; it claims nothing that was not measured."""
    if result := summary.search:
        return search.state_result(result, name_targets(summary))
    parts = state_sweep_result(summary) if summary.planned_steps > 1 else state_result(summary.last)
    valid = "valid" if summary.valid else "INVALID: do not rely on these figures"
    kept = "" if summary.planned_steps > 1 and has_limits(summary) else state_limits(summary)
    return f"{name_users(summary)}: {'; '.join(filter(None, (parts, valid, name_ending(summary), kept)))}"


def name_users(summary: Summary) -> str:
    users = [step.load_users - step.background for step in summary.steps]
    number = many(users[0], "user") if len(set(users)) == 1 else f"{count(min(users))} to {many(max(users), 'user')}"
    return f"{number} at {name_targets(summary)}{name_neighbour(summary.last)}"


def name_neighbour(step: StepFigures) -> str:
    """What ran beside the measurement, as the end of a phrase; empty if nothing did."""
    others = many(step.background, "other session") if step.background else ""
    command = quote_command(step.neighbour.command) if step.neighbour else ""
    probe = f"a probe of {many(step.probe.users, 'user')}" if step.probe else ""
    beside = join_words(filter(None, (others, command, probe)))
    return f" beside {beside}" if beside else ""


def state_result(step: StepFigures) -> str:
    """The echo and response times of a step, or why there is no steady state."""
    if why := why_unsteady(step):
        return why
    parts = [state_median(step, "echo", "a key echoes in"), state_median(step, "response", "an answer takes")]
    if step.unanswered:
        asked = step.transactions.count + step.unanswered
        parts.append(f"{count(step.unanswered)} of {count(asked)} were not answered")
    return ", ".join(filter(None, parts)) or "nothing was measured: no key's echo, no answer"


def state_median(step: StepFigures, name: str, phrase: str) -> str:
    """The median: since sent if lateness voids it since due; none if drawing screens voids it."""
    if not getattr(step, name).total:
        return ""
    if not (of_host := choose_quoted(step, name)):
        return why_void(step)
    durations = getattr(step, of_host)
    since = "" if of_host == name else " since sent"
    longer = state_tail(durations) if name == "response" else name_main_part(step)
    return f"{phrase} {write_duration(durations, 'p50')}{since}{f' ({longer})' if longer else ''}"


def state_tail(durations: Distribution) -> str:
    """The p99, or the maximum of too few values for it."""
    of_few = f"the longest of {count(durations.total)}: {write_duration(durations, 'max')}"
    return of_few if is_weak(durations, "p99") else f"p99 {write_duration(durations, 'p99')}"


def state_limits(summary: Summary) -> str:
    limits = [limit for step in summary.steps for limit in step.limits]
    if not limits:
        return "no limit was set"
    bad = {word: [limit.limit for limit in limits if limit_status(limit) == word] for word in NOT_KEPT}
    parts = [f"limit {word}: {', '.join(of_word)}" for word, of_word in bad.items() if of_word]
    return "; ".join(parts) or ("the limit was kept" if len(limits) == 1 else "all limits were kept")


NOT_KEPT = ("crossed", "not measured", NOT_DECIDED)


def has_limits(summary: Summary) -> bool:
    return any(step.limits for step in summary.steps)


def state_sweep_result(summary: Summary) -> str:
    """The largest load within the limits; without limits, how the response grew."""
    if answer := features.answer_sweep(summary):
        return answer
    if not has_limits(summary):
        first, last = summary.steps[0], summary.last
        if first is last or not (has_response(first) and has_response(last)):
            return state_result(last)
        low, high = (write_duration(step.response, "p50") for step in (first, last))
        grew = f"median response {low} to {high}" if low != high else f"median response {low} at both ends"
        return f"{write_rate(first.transactions.per_s)} to {write_rate(last.transactions.per_s)} transactions, {grew}"
    doubted = {each.step for each in summary.doubts}
    sure = [step for step in summary.steps if None not in doubted and step.step not in doubted]
    good = [step for step in sure if all(limit.ok for limit in step.limits)]
    bad = {
        word: [step for step in sure if any(limit_status(limit) == word for limit in step.limits)] for word in NOT_KEPT
    }
    parts = [state_limit_range(summary, good, bad.pop("crossed"))]
    parts += [f"{word} {name_steps(summary, steps)}" for word, steps in bad.items() if steps]
    parts += [
        f"in doubt {name_steps(summary, unsure)}" if (unsure := [s for s in summary.steps if s not in sure]) else ""
    ]
    return ", ".join(filter(None, parts))


def has_response(step: StepFigures) -> bool:
    """Whether the response since due is a figure of the host."""
    return bool(step.response.total) and step.settled.steady and "response" not in step.driver.voids


def state_limit_range(summary: Summary, kept: list[StepFigures], crossed: list[StepFigures]) -> str:
    if not crossed:
        most = ", the most tried" if kept and kept[-1] is summary.last and only_users(summary) else ""
        if only_users(summary) and len(kept) > 1:
            return f"limit kept up to {many(kept[-1].load_users, 'user')}{most}"
        return f"limit kept {name_steps(summary, kept)}{most}" if kept else ""
    if not kept:
        fewest = " already, the fewest tried" if crossed[0] is summary.steps[0] and only_users(summary) else ""
        shown = crossed[:1] if fewest else crossed
        return f"limit crossed {name_steps(summary, shown)}{fewest}{name_crossed(summary, shown)}"
    if only_users(summary) and max(step.load_users for step in kept) < min(step.load_users for step in crossed):
        at = f"limit kept {name_steps(summary, kept[-1:])}, crossed at {count(crossed[0].load_users)}"
        return f"{at}{name_crossed(summary, crossed[:1])}"
    which = f"{name_steps(summary, crossed)}{name_crossed(summary, crossed)}"
    return f"limit kept {name_steps(summary, kept)}, crossed {which}"


def name_crossed(summary: Summary, crossed: list[StepFigures]) -> str:
    """The crossed limits in brackets; empty if there is only one limit."""
    if len({limit.limit for step in summary.steps for limit in step.limits}) == 1:
        return ""
    bad = (limit.limit for step in crossed for limit in step.limits if limit_status(limit) == "crossed")
    return f" ({', '.join(dict.fromkeys(bad))})"


def only_users(summary: Summary) -> bool:
    """Whether nothing but the number of users was swept, upwards."""
    users = [step.load_users for step in summary.steps]
    return users == sorted(set(users)) and all(set(step.swept) <= {"users"} for step in summary.steps)


def name_steps(summary: Summary, steps: list[StepFigures]) -> str:
    """Name steps by their numbers of users if only these were swept, else by their own numbers."""
    if only_users(summary):
        named_users = join_words(count(step.load_users) for step in steps)
        return f"at {named_users} {'user' if named_users == '1' else 'users'}"
    if len(steps) == len(summary.steps) > 1:
        return f"in all {len(steps)} steps"
    return f"in step {', '.join(str(step.step + 1) for step in steps)}"


def big_figures(summary: Summary) -> Iterator[BigFigure]:
    """The four to six figures that most readers want; for a sweep, those of its last step."""
    step = summary.last
    at = f" at {many(step.load_users, 'user')}" if summary.planned_steps > 1 else ""
    median = "median" if step.settled.steady else "no steady state; median of this run"
    for name, label in (("echo", "keystroke echo"), ("response", "response")):
        if getattr(step, name).total:
            of_host = choose_quoted(step, name)
            shown = of_host or name
            own = "" if of_host else "void, the driver drew; "
            since = "" if shown == name else " since sent"
            yield make_big_figure(
                f"{label}{since}{at}", f"{shown}.p50", step, f"{own}{median}; {state_tail(getattr(step, shown))}"
            )
    yield make_big_figure(
        f"transactions/s{at}", "transactions.per_s", step, f"{count(step.transactions.count)} counted"
    )
    for name, host in (step.hosts or {"": step.host}).items():
        if host.cpu:
            yield make_cpu_figure(f"CPU of {name}{at}" if name else f"host CPU{at}", host.cpu)
    by_name, meaning = explain_errors(step.errors.by_name), CATALOGUE["errors.count"].meaning
    yield BigFigure("errors", count(step.errors.count), by_name, meaning, "bad" if step.errors.count else "")
    yield make_big_figure("driver delay", "lateness.p99", step, "p99: the instrument's own")


def make_cpu_figure(label: str, cpu: CpuUse) -> BigFigure:
    meaning = f"{CATALOGUE['host.cpu.usr'].meaning} {CATALOGUE['host.cpu.sys'].meaning}"
    others = f"{share(cpu.others / 100)} others, " if cpu.others else ""
    return BigFigure(label, share((cpu.usr + cpu.sys) / 100), f"{others}{share(cpu.idle / 100)} idle", meaning)


def make_big_figure(label: str, name: str, step: StepFigures, detail: str) -> BigFigure:
    return BigFigure(label, write_figure(name, step), detail, CATALOGUE[name].meaning)


def unusual_section(summary: Summary) -> Iterator[Section]:
    """Facts that a reader would not expect; empty for a healthy run."""
    if parts := [Remark(each, "notice") for each in list_oddities(summary.last, summary)]:
        yield Section("What is unusual", parts, name="NOTICE")


def list_oddities(step: StepFigures, summary: Summary) -> Iterator[str]:
    if step.errors.count:
        yield f"{many(step.errors.count, 'error')}: {explain_errors(step.errors.by_name)}"
    yield from list_causes(summary)
    yield from (f"{name}, the first: {text}" for name, text in step.errors.said.items())
    if step.errors.before:
        yield f"errors before measuring: {list_counts(step.errors.before)}"
    if undone := [fact(name, step) for name in UNDONE if CATALOGUE[name].take_from(step)]:
        yield "; ".join(f"{figure.label} {figure.value}" for figure in undone)
    if step.undecoded:
        which = "no character of UTF-8, or of the target's ?charset=: name the host's set"
        yield f"{many(step.undecoded, 'received byte')} {which}"
    if step.set_aside:
        yield (
            f"up to {many(step.set_aside, 'cell')} of a screen changed without keys, and were set aside: "
            "no change there is an echo"
        )
    if step.frames:
        yield from describe_costly_frames(step.frames)
    yield from list_stalls(summary)
    yield from describe_probe_lines(summary)
    yield from describe_stuck_users(summary)
    if step.fairness and step.fairness.jain < FAIR and step.transactions.count >= ENOUGH * step.fairness.users:
        yield describe_fairness(step.fairness)
    if step.law and not agrees(step.law):
        yield describe_law(step.law)
    yield from describe_odd_nodes(step)
    yield from describe_held(summary)
    yield from describe_hosts(summary)
    yield from list_host_doubts(step)


def describe_hosts(summary: Summary) -> Iterator[str]:
    """Whom the run trusted without a check, and what it left there."""
    for target in list_unchecked(summary.recorded):
        yield f"{target}: the host's certificate was not checked, as its target says: whoever answered was trusted"
    yield from list_left_behind(summary.recorded)


def explain_errors(by_name: Mapping[str, int]) -> str:
    """Errors with their counts, and the meaning of the most frequent: `flood 2: the host sent too much`."""
    most = max(by_name, key=lambda name: by_name[name], default="")
    happened = _native.failures().get(most, "").rstrip(".").replace("`", "")
    means = f"{happened[:1].lower()}{happened[1:]}"
    meaning = f"{most} means {means}" if len(by_name) > 1 and means else means
    return ": ".join(filter(None, (list_counts(by_name), meaning)))


def name_targets(summary: Summary) -> str:
    names = [str(name) for name in summary.recorded.run.get("host", {}).get("targets", [])]
    known = ["the built-in host (host:)" if name == BUILTIN_HOST else without_settings(name) for name in names]
    return " and ".join(known) if len(known) < 3 else f"{len(known)} targets"
