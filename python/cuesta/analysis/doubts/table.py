"""The doubts about a step: a function for each compares its figures with the plan's thresholds.

They stand in the order of reports: what the host did comes first, then causes before what they cause. A new doubt is
one function here, and a row in docs/summary.md.
"""

from cuesta.analysis.doubts.doubt import Doubt, step_doubt
from cuesta.analysis.doubts.phrases import (
    AT_START,
    MEND,
    NOT_TAKEN,
    advice_for_errors,
    describe_given_up,
    describe_waiting,
    judge_lateness,
    name_worst_node,
)
from cuesta.analysis.neighbour import quote_command
from cuesta.analysis.planned import Allowed
from cuesta.analysis.probe import describe_probe
from cuesta.analysis.unsteady import describe_overload, describe_shift
from cuesta.analysis.waits import is_stuck
from cuesta.figures.counts import describe_wait
from cuesta.figures.step import StepFigures
from cuesta.units import count, join_words, list_counts, many, seconds, share

MOST_SILENT = 0.1
"""Share of transactions that may end by silence though the host sent nothing for them."""
FEWEST_CONTINUED = 3
"""Fewest answers behind which output went on: fewer may be chance, as where two users type at once."""
DRIVER_LACKS = {"out-of-ports": "ports", "out-of-files": "files"}
"""Errors of the driver's machine. Terminals and processes are the host's."""
ERRORS = ("errors.rate", "errors.count")
READY = (
    "try it by hand; let the tape answer what the program shows first (Wait+Screen, Type) and wait until ready then; "
    "or name keys that it shows and takes back: Wait+Ready Down Up"
)
BY_HAND = "see by hand why the host shows no prompt, with as many users as here"
BY_HAND_ECHO = (
    "see by hand whether the host works, and whether it echoes what is typed at all (a web terminal may be read-only)"
)
SLOW_START = "settle longer, or start users faster (--stagger)"
LET_START = "let users start well before measuring begins (settle longer), or do not hold them"
COME_AND_GO = "if sessions end, and users log in again, give them a rate (--load open:2/s:sessions)"
WAIT_LONGER = {
    "Wait+Prompt": "let `Set Prompt` match the last prompt only, or wait for what comes last (Wait+Screen /…/)",
    "Wait+Silence": "wait for a longer silence, or for what comes last in an answer (Wait+Screen /…/)",
    "Wait": "wait for what comes last in an answer (Wait+Screen /…/, Wait+Prompt); look with --cast",
}
"""What to do where output went on behind answers, by the wait that ended too early."""


@step_doubt
def not_ready(step: StepFigures, _: Allowed) -> Doubt | None:
    """`Wait+Ready` saw no program that takes keys: whatever was measured is not what the tape is for."""
    times = sum(errors.get("not-ready", 0) for errors in (step.errors.before, step.errors.by_name))
    if not times:
        return None
    seen = step.errors.said.get("not-ready", "the program was not ready")
    at_the_end = step.lost_for.get("not-ready", 0)
    how_many = f", {count(at_the_end)} of {many(step.users, 'user')} at the end" if at_the_end else ""
    return Doubt(f"{seen} ({many(times, 'time')}{how_many})", READY, "host", "failed", voids_limits=True)


@step_doubt
def died(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Programs on the users' lines ended before they answered anything."""
    times = sum(errors.get(name, 0) for errors in (step.errors.before, step.errors.by_name) for name in AT_START)
    lost = sum(step.lost_for.get(name, 0) for name in AT_START)
    in_vain = not step.transactions.count and times >= step.users
    if not times or not (in_vain or lost > allowed.lost_users * step.users):
        return None
    said = "".join(f": {step.errors.said[name]}" for name in AT_START if name in step.errors.said)
    text = f"the program on the line ended at its start, {many(times, 'time')}{said}"
    return Doubt(text, MEND, "host", "stopped")


@step_doubt
def untaken(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """A 3270's keyboard did not take keys: the host was not asked what the tape says."""
    by_name = {name: number for name, number in step.errors.by_name.items() if name in NOT_TAKEN}
    not_taken, most = sum(by_name.values()), allowed.untaken_keys
    if not_taken <= most * step.all_keys:
        return None
    wait = "let the tape wait until the keyboard is unlocked, before it types: Wait+Unlock"
    move = "let the tape move to a field first (Tab), and type no more than fits into it"
    how_many = f"{count(not_taken)} of {many(step.all_keys + not_taken, 'key')}"
    text = f"the keyboard did not take {how_many} ({list_counts(by_name)}; allowed {share(most)})"
    return Doubt(text, wait if "keyboard-locked" in by_name else move, voids_limits=True)


@step_doubt
def unanswered(step: StepFigures, _: Allowed) -> Doubt | None:
    """Transactions began but none ended, or the host never showed what users waited for."""
    waiting = step.waiting
    has_begun = bool(waiting.answers + step.unanswered)
    if step.transactions.count or not (has_begun or (waiting.prompts and not step.echo.count)):
        return None
    slow = "see by hand whether it works; if it is only slow, measure for longer, with a longer `Set WaitTimeout`"
    # Not "the host answered nothing": it may have sent something else than what the tape waits for.
    what = "no transaction ended" if has_begun else "no wait was met"
    users = describe_waiting(waiting.answers + waiting.prompts, waiting.oldest)
    text = f"{what}: {'; '.join(filter(None, (users, describe_given_up(step))))}"
    return Doubt(text, advice_for_errors(step, slow), "host", "stopped", voids_limits=True)


@step_doubt
def never_at_work(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Users never got to work: the host did not show them what they waited for, or took no line of theirs."""
    if step.never_at_work <= max(allowed.lost_users * step.users, step.lost_users):
        return None
    how_many = f"{count(step.never_at_work)} of {many(step.users, 'user')}"
    text = f"{how_many} never got to work: no prompt or no line (allowed {share(allowed.lost_users)})"
    return Doubt(text, advice_for_errors(step, BY_HAND), "host", "failed", replaced_by=("never_at_work",))


@step_doubt
def no_login(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Lines were given up: what the tape waits for before its first pass did not come. Users may work on others."""
    given_up = step.errors.by_name.get("no-login", 0)
    lines = max(step.login.count + given_up, step.users)
    if given_up <= allowed.lost_users * lines or never_at_work(step, allowed):
        return None
    text = f"{count(given_up)} of {many(lines, 'line')} showed no prompt (allowed {share(allowed.lost_users)})"
    return Doubt(text, BY_HAND, "host", "failed", replaced_by=ERRORS)


@step_doubt
def silent(step: StepFigures, _: Allowed) -> Doubt | None:
    """Transactions ended by silence of a host that sent nothing: a host that has stopped is silent too."""
    ended = step.transactions.count
    if step.silent <= MOST_SILENT * ended:
        return None
    how_many = "" if step.silent == ended else f"{count(step.silent)} of "
    text = f"the host sent nothing: {how_many}{many(ended, 'transaction')} ended by its silence"
    advice = advice_for_errors(step, "see by hand whether the host works")
    return Doubt(text, advice, "host", "stopped", voids_limits=True)


@step_doubt
def unechoed(step: StepFigures, _: Allowed) -> Doubt | None:
    """Most of the keys whose echo was expected were not echoed. Limits on transactions can still be kept."""
    echoed, waiting = step.echo.count, step.waiting
    keys = waiting.keys + step.errors.by_name.get("unechoed", 0)
    if echoed >= keys:
        return None
    nothing, some = f"nothing of {many(keys, 'key')}", f"only {many(echoed, 'key')}, and {count(keys)} not"
    users = describe_waiting(waiting.echoes, waiting.oldest)
    text = f"the host echoed {some if echoed else nothing}{f': {users}' if users else ''}"
    advice = advice_for_errors(step, BY_HAND_ECHO)
    return Doubt(text, advice, "host", "stopped", voids_limits=not step.transactions.count)


@step_doubt
def empty(step: StepFigures, allowed: Allowed) -> Doubt | None:
    if step.transactions.count or step.echo.count or unanswered(step, allowed) or unechoed(step, allowed):
        return None
    advice = advice_for_errors(step, "measure longer, or look at the errors: perhaps nobody could work")
    text = "nothing was measured: no transaction and no echo"
    return Doubt(text, advice, "host", "empty", voids_limits=True)


@step_doubt
def unaccounted(step: StepFigures, _: Allowed) -> Doubt | None:
    """Arrivals of an open load and what became of them do not add up: some are in no figure."""
    due = step.due
    if due is None or due.adds_up:
        return None
    text = f"{count(due.count)} were due, but done, under way, waiting and skipped are {count(due.accounted)}"
    return Doubt(text, "this is the driver's own fault: please report it, with the run folder")


@step_doubt
def unbegun(step: StepFigures, _: Allowed) -> Doubt | None:
    """Most arrivals of an open load were never begun: the figures are those of the few that found a free user."""
    due = step.due
    if due is None or due.never_begun <= due.done + due.under_way:
        return None
    how = f"{count(due.waiting)} waited for a free user, {count(due.skipped)} were skipped"
    return Doubt(
        f"{count(due.never_begun)} of {count(due.count)} that were due were never begun: {how}",
        "more users for the same rate, or a lower rate: a user has one session at a time, and no other till it ends",
        blames="host",
        trial="overloaded",
        voids_limits=True,
        in_search=" (more --users may begin them)",
    )


@step_doubt
def lost(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Users lost their lines, or got none: the population was smaller than planned."""
    if step.lost_users <= allowed.lost_users * step.users:
        return None
    how_many, most = f"{count(step.lost_users)} of {many(step.users, 'user')}", share(allowed.lost_users)
    advice = advice_for_errors(step, "see the errors by name, and how many lines the host takes")
    text = f"{how_many} had no line at the end (allowed {most})"
    return Doubt(text, advice, "host", "failed", replaced_by=("lost_users",))


@step_doubt
def incomplete(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Users were missing when measuring began."""
    connected, wanted = step.settled.connected, step.settled.wanted or 0
    if not allowed.settled or wanted - connected <= allowed.lost_users * wanted:
        return None
    has_reopened = step.connect.count > step.users  # sessions ended, and users opened their lines again
    text = f"only {count(connected)} of {many(wanted, 'user')} were at work when measuring began"
    if step.settled.held:
        return Doubt(f"{text}: starts were held for {seconds(step.settled.held)} before", LET_START)
    advice = advice_for_errors(step, COME_AND_GO if has_reopened else SLOW_START)
    return Doubt(text, advice, "host", "failed", replaced_by=("lost_users",))


@step_doubt
def crowded(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Users whom the load does not have were still in their last pass when measuring began."""
    left_over = step.settled.left_over
    if not allowed.settled or left_over <= allowed.lost_users * step.users:
        return None
    advice = "settle for at least as long as a pass of the tape takes: users leave at its end"
    return Doubt(f"measuring began with {many(left_over, 'user')} more, of the load before", advice)


@step_doubt
def overloaded(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """More was due than the host can do: what waits grows as long as one measures, and so does the response."""
    if not allowed.settled or not step.settled.overload:
        return None
    advice = "offer less than the host kept; longer runs of the same load only give longer responses"
    return Doubt(describe_overload(step.settled.overload), advice, "host", "overloaded")


@step_doubt
def unsettled(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Throughput or response changed its level while measuring, or drifted."""
    if not allowed.settled or step.settled.overload or not (shift := describe_shift(step)):
        return None
    advice = "settle longer; near saturation measure longer too: there queues wander for minutes"
    return Doubt(shift, advice, trial="unsettled")


@step_doubt
def stolen(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """The hypervisor took CPU time from the host, or from one of several: it looks slower than it is."""
    hosts = step.hosts or {"the host": step.host}
    taken = {name: host.cpu.steal / 100 for name, host in hosts.items() if host.cpu}
    parts = [f"{share(steal)} of {name}'s CPUs" for name, steal in taken.items() if steal > allowed.steal]
    if not parts:
        return None
    text = f"the hypervisor took {join_words(parts)} (allowed {share(allowed.steal)})"
    return Doubt(text, "measure when the machine's neighbours are quiet, or on a machine of its own", "hypervisor")


@step_doubt
def exhausted(step: StepFigures, _: Allowed) -> Doubt | None:
    """The driver's machine had no more ports or files for lines."""
    lines = {what: number for name, what in DRIVER_LACKS.items() if (number := step.errors.by_name.get(name))}
    if not lines:
        return None
    unopened = many(sum(lines.values()), "line")
    text = f"the driver's machine had no more {' and '.join(lines)}: {unopened} could not be opened"
    return Doubt(text, "raise what the error names, or use more machines for the driver (--agents)", "driver")


@step_doubt
def late(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Keys were sent long after they could be (due, user ready, line free): times since due then contain this delay."""
    if not (found := judge_lateness(step.lateness, allowed.lateness_p99 / 1e9)):
        return None
    part, late_by = found
    after = f"more than {seconds(late_by)} after they could be (allowed {seconds(allowed.lateness_p99 / 1e9)})"
    machine = "a quieter machine, or --pin" if allowed.may_pin else "or a quieter machine"
    advice = f"use fewer users, more --threads or --agents, {machine}"
    return Doubt(f"the driver was late: {part} % of keys were sent {after}", advice, "driver")


@step_doubt
def busy(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """The driver used nearly all of its CPU: its own delays look like a slow host."""
    cpu, most = step.driver.cpu, allowed.driver_cpu
    if cpu <= most:
        return None
    advice = "use fewer users, more --threads or --agents, or another machine for the driver"
    where = name_worst_node(step.agents, "cpu")
    return Doubt(f"the driver was busy{where}: {share(cpu)} of its cores (allowed {share(most)})", advice, "driver")


@step_doubt
def starved(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Other programs took the driver's CPU time."""
    waited, most = step.driver.run_wait, allowed.run_wait
    if waited <= most:
        return None
    pin = "use --pin, or" if allowed.may_pin else "or use"
    advice = f"stop what else runs on the machine, {pin} fewer threads than CPUs"
    where = name_worst_node(step.agents, "run_wait")
    text = f"the driver waited for a CPU{where} {share(waited)} of the time (allowed {share(most)})"
    return Doubt(text, advice, "driver")


@step_doubt
def slower_than_probe(step: StepFigures, _: Allowed) -> Doubt | None:
    """Users apart saw the host answer sooner: the driver adds to the times of the others what it does not know of.

    It may receive late, or its node's network may be full. The thresholds are those of `analysis.probe`.
    """
    if step.probe is None or step.probe.verdict != "driver":
        return None
    advice = "use fewer users on each node, or more --agents, --threads or --nodes; the probe's rows are of the host"
    return Doubt(describe_probe(step.probe), advice, "driver")


@step_doubt
def unaccompanied(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """The neighbour did not run beside the whole measurement interval: the figures are in part those without it."""
    neighbour = step.neighbour
    if neighbour is None or not step.seconds or neighbour.seconds >= allowed.beside * step.seconds:
        return None
    ran = f"ran for {seconds(neighbour.seconds)} of {seconds(step.seconds)}" if neighbour.seconds else "did not run"
    times = f", in {many(neighbour.starts, 'start')}" if neighbour.starts > 1 else ""
    ended = f": it {neighbour.ended}" if neighbour.ended else ""
    said = f", and said: {neighbour.said}" if neighbour.said else ""
    advice = "give a command that goes on for as long as is measured, such as 'while :; do make clean; make -j8; done'"
    text = f"beside it {quote_command(neighbour.command)} {ran} (at least {share(allowed.beside)}){times}{ended}{said}"
    return Doubt(text, advice)


@step_doubt
def mismatched(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Keys and echoes did not match: echo times may belong to other keys."""
    wrong = step.errors.by_name.get("unechoed", 0) + step.stray
    keys = step.all_keys
    if wrong <= allowed.echo_mismatches * keys:
        return None
    how_many = f"{count(wrong)} of {many(keys, 'key')}"
    return Doubt(
        f"echoes did not match: {how_many} (allowed {share(allowed.echo_mismatches)})",
        "check that the host echoes what is typed, and that no other output comes between; keys that print nothing, "
        "such as commands of vi, belong under `Set Echo off`, or have `Set Echo change`",
        blames="host",
        trial="failed",
        replaced_by=ERRORS,
    )


@step_doubt
def unfollowed(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Echoes were not timed: what was typed could not be followed in the output."""
    keys = sum(each.echo.total for each in step.keys) + step.unfollowed
    if step.unfollowed <= allowed.unfollowed * keys:
        return None
    how_many = f"{count(step.unfollowed)} of {many(keys, 'timed key')}"
    return Doubt(
        f"{how_many} could not be followed in the output, and have no echo time",
        "on a program that draws, `Set Echo screen` follows what is typed; `Set Echo change` needs an answer before "
        "the next key; `off` times no echoes",
    )


@step_doubt
def continued(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Output went on behind answers: their waits may have ended before they were complete."""
    part = min(step.continued_long / max(step.all_transactions, 1), 1.0)
    if step.continued_long < FEWEST_CONTINUED or part <= allowed.continued:
        return None
    lasted = f"for {seconds(step.continued.p50)} at the median"
    text = f"behind {share(part)} of the answers output went on, {lasted}: they may not have been complete"
    sample, advice = step.samples.get("continued"), WAIT_LONGER["Wait"]
    if sample:
        row = f", by the row `{sample.row}`" if sample.row else ""
        mend = WAIT_LONGER.get(sample.condition.partition(" ")[0], advice)
        advice = f"{describe_wait(sample)} was met too early{row}: {mend}"
    return Doubt(text, advice, voids_limits=True)


@step_doubt
def skipped(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """Actions that were due were not done: the load was lighter than planned."""
    arrivals = (step.due.skipped, step.due.count) if step.due else (0, 0)
    actions = (step.skipped, step.all_transactions + step.skipped)
    for missing, due in (arrivals, actions):
        if missing > allowed.skipped * due:
            how_many = f"{count(missing)} of {many(due, 'action')}"
            text = f"{how_many} that were due were skipped (allowed {share(allowed.skipped)})"
            advice = "offer less (more users for the same rate, a longer cycle), or measure where the host keeps up"
            return Doubt(text, advice, "host", "overloaded", replaced_by=("skipped",))
    return None


@step_doubt
def stuck(step: StepFigures, _: Allowed) -> Doubt | None:
    """Answers or echoes were missing for far longer than any wait that ended: they may never come."""
    if step.waiting.answers and not step.response.count:
        return None  # `unanswered` covers it
    waits = [step.response, step.echo, *(each.response for each in step.classes)]  # those of the background too
    oldest, longest = step.unfinished.oldest, max(wait.longest or 0.0 for wait in waits)
    if not longest or not is_stuck(oldest, longest):
        return None
    answers, echoes = many(step.waiting.answers, "transaction"), many(step.waiting.echoes, "user")
    missing = f"{answers} had no answer" if step.waiting.answers else f"{echoes} had no echo"
    waited = f"the oldest had waited {seconds(oldest)}, the longest wait that ended took {seconds(longest)}"
    advice = "see why the host does not answer; give waits a shorter @timeout so that it is counted"
    return Doubt(f"{missing} at the end: {waited}", advice, "host", "stopped")


@step_doubt
def few(step: StepFigures, _: Allowed) -> Doubt | None:
    """Fewer transactions ended than were under way at the end or given up: the figures are those of the quick ones.

    A host of which only few answers came in time may be slow; one that let waits be given up stopped answering.
    """
    ended, under_way = step.transactions.count, step.waiting.answers
    if not 0 < ended < under_way + step.unanswered:
        return None
    slow, lost = "measure longer than the slowest transaction takes, several times over", describe_given_up(step)
    others = "; ".join(filter(None, (f"{count(under_way)} more were under way" if under_way else "", lost)))
    text = f"only {many(ended, 'transaction')} ended while {others}"
    advice = advice_for_errors(step, slow) if step.unanswered else slow
    return Doubt(text, advice, "host", "stopped" if lost else "slow", voids_limits=True)


@step_doubt
def few_of_a_group(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """One group has more transactions without an answer than with one; the figures of all users hide that group."""
    groups = [group for group in step.groups if group.transactions < group.unanswered]
    if not groups or unanswered(step, allowed) or few(step, allowed):
        return None
    worst = max(groups, key=lambda group: group.unanswered - group.transactions)
    some, none = f"only {many(worst.transactions, 'transaction')} ended", "nothing was answered"
    ended = some if worst.transactions else none
    text = f"of group {worst.group}, {ended}, and {count(worst.unanswered)} had no answer"
    advice = "see by hand whether that group's host works; without the group, the others can be measured"
    return Doubt(text, advice, "host", "stopped", voids_limits=True)
