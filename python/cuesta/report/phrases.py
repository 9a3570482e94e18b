"""Sentences that the text and the HTML report share, and the safe form of names that came from outside."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from cuesta.analysis.asymptotes import Above, Asymptotes
from cuesta.analysis.host import COUNTS, PARTS, uses
from cuesta.analysis.summary import Summary
from cuesta.figures.host import BuiltInHost, HostFigures, PerTransaction
from cuesta.figures.step import (
    DueAccount,
    Fairness,
    KernelTimes,
    LimitResult,
    PublishedComparison,
    ResponseLaw,
    ScreenCost,
    StepFigures,
)
from cuesta.ledger.meters import Sheet
from cuesta.report.network import network
from cuesta.report.tiers import in_brackets
from cuesta.units import ABSENT, between, count, digits, many, percent, rounded, seconds, share, under

IDLE = {
    "zero": "zero",
    "page_wait": "page wait",
    "loading": "loading",
    "io_wait": "I/O wait",
    "quota_wait": "throttled",
}
"""Kinds of idle that exclude each other, where the kernel is traced."""
SMALLEST = 0.05
"""Percent of the CPUs below which causes are put together."""
LOADS = {
    "closed": "the next input is due a think time after the answer",
    "paced": "inputs are due at fixed times",
    "open": "inputs arrive at a rate, whatever happens",
}


def plain(name: str) -> str:
    """Give a name with nothing in it that could command a terminal."""
    return "".join(c if c.isprintable() else "�" for c in name)


def on_time(summary: Summary) -> str:
    """Say what speaks for a valid run."""
    late = [step.lateness.p99 for step in summary.steps if step.lateness.p99 is not None]
    due = [step.due for step in summary.steps if step.due and step.due.never_begun]
    keys = f"99 in 100 keys went within {seconds(max(late))} of when they were due" if late else ""
    never = sum(each.never_begun for each in due)
    begun = f"{count(never)} of {count(sum(each.count for each in due))} that were due were never begun" if due else ""
    return "; ".join(filter(None, (keys, begun))) or "nothing speaks against it"


def account(due: DueAccount) -> str:
    """Say what became of everything that was due."""
    failed = f" (of it {count(due.failed)} given up or without a line)" if due.failed else ""
    begun = f"{count(due.done)} done{failed} + {count(due.under_way)} under way"
    rest = f"{count(due.waiting)} waiting for a user + {count(due.skipped)} skipped"
    return f"{count(due.count)} {'=' if due.adds_up else '≠'} {begun} + {rest}"


def kept(verdict: LimitResult) -> str:
    """Say whether a limit was kept, crossed, or could not be: nothing was measured that could have."""
    return "kept" if verdict.ok else "crossed" if verdict.value is not None else "not kept"


def doubts(summary: Summary) -> list[tuple[str, str]]:
    """Give what was found against a run, each with what to do, unless that was said of one before it."""
    advices = [plain(doubted.doubt.advice) for doubted in summary.doubts]
    unsaid = ["" if advice in advices[:index] else advice for index, advice in enumerate(advices)]
    return [(plain(str(doubted)), advice) for doubted, advice in zip(summary.doubts, unsaid, strict=True)]


def with_advice(doubt: tuple[str, str]) -> str:
    """Write a doubt in one row."""
    return " → ".join(filter(None, doubt))


def how_it_ended(summary: Summary) -> str:
    """Say how far a run got that did not come to its end; nothing of one that did."""
    if summary.ended == "completed":
        return ""
    recorded = summary.recorded
    until = max((row.start + row.length for agent in recorded.agents for row in agent.intervals), default=0.0)
    planned = max((step.end for step in recorded.steps.values()), default=None)
    word = {"failed": "the driver failed", "cut off": "the record breaks off"}.get(summary.ended, summary.ended)
    if not until:
        return f"{word}: nothing was recorded"
    of = f" of {seconds(planned)} planned" if planned else ""
    return f"{word}: recorded are {seconds(until)}{of}; below is what was measured until then"


def load(step: StepFigures) -> str:
    """Say how many users made what kind of load, and for how long it was measured."""
    meaning = LOADS.get(step.load.partition(":")[0])
    kind = f"{plain(step.load)} load" + (f" ({meaning})" if meaning else "")
    short = step.seconds < step.planned_seconds - 0.5
    planned = f" of {seconds(step.planned_seconds)} planned" if short else ""
    return f"{many(step.users, 'user')}, {kind}, measured for {seconds(step.seconds)}{planned}"


def screens(cost: ScreenCost) -> str:
    """Say what the users' screens cost."""
    each = f"{digits(cost.bytes_each / 1024)} KiB each"
    return f"{many(cost.count, 'screen')}, {each}, drawn in {share(cost.drawing)} of a core per thread"


def per_s(rate: float | None) -> str:
    """Write a rate."""
    return ABSENT if rate is None else f"{digits(rate)}/s"


def limit_value(verdict: LimitResult) -> str:
    """Write what was measured for a limit, in the limit's own unit."""
    return value_of(verdict.limit, verdict.value, verdict.is_duration)


def value_of(figure: str, value: float | None, is_duration: bool) -> str:
    """Write a value in the unit of its figure, which `figure` begins with."""
    if value is None:
        return "nothing"
    if is_duration:
        return seconds(value)
    if figure.startswith("errors.rate"):
        return share(value)
    return per_s(value) if "per_s" in figure or figure.startswith("throughput") else digits(value)


def beside(each: PublishedComparison) -> tuple[str, str, str]:
    """Say what was measured, what was published, and how the one is to the other."""
    measured = value_of(each.figure, each.measured, each.is_duration)
    if each.step is None:
        measured += f" (no step of {many(each.users or 0, 'user')})"
    published = f"{each.bound or ''} {value_of(each.figure, each.published, each.is_duration)}".strip()
    return measured, published, ABSENT if each.ratio is None else f"{each.ratio:.3g} × published"


def inflation(kernel: KernelTimes) -> str:
    """Say what the driver itself adds to a response."""
    k, extra = kernel.kernel_response, kernel.inflation
    u = kernel.user_response
    by = f"by {seconds(extra.p50)}, p99 by {seconds(extra.p99)}" if extra.p50 > 0 else "by nothing that shows"
    return (
        f"from the last key to the first sign of an answer, {many(k.count, 'transaction')}: the kernel saw "
        f"p50 {seconds(k.p50)} p99 {seconds(k.p99)}, the driver p50 {seconds(u.p50)} p99 {seconds(u.p99)}: "
        f"the driver inflates the median {by}"
    )


def fairness(fair: Fairness) -> str:
    """Say how alike users were served, and who was worst off."""
    return (
        f"Jain index {fair.jain:.3f} of {many(fair.users, 'user')}; worst: {plain(fair.worst_group)} "
        f"{fair.worst_user} with a mean of {seconds(fair.worst_mean)} (median of users {seconds(fair.median)})"
    )


def law(law: ResponseLaw) -> Iterator[str]:
    """Show the law's terms, what it predicts and how far that is off."""
    yield (
        f"R = N/X − Z − K = {digits(law.n)} / {digits(law.x)} per s − {_term(law.z)} − {_term(law.k)} "
        f"= {seconds(law.r_predicted)}; measured {seconds(law.r_measured)}"
    )
    yield f"off by {share(law.error)} of N/X; the edges of the interval alone make ±{share(law.chance)}"


def _term(value: float) -> str:
    """Write a term that is taken away; one below zero in brackets."""
    return seconds(value) if value >= 0 else f"({seconds(value)})"


def no_law(step: StepFigures) -> Iterator[str]:
    """Say why the law is not checked."""
    if step.load != "closed":
        yield f"R = N/X − Z − K is not checked: it needs a closed load, and this one is {plain(step.load)}"


def host_cpu(host: HostFigures) -> Iterator[str]:
    """Say what the host's CPUs did, and what a transaction cost it."""
    if host.cpu is None:
        yield f"CPU: {plain(host.cpu_missing or 'no meter data')}"
        return
    cpu, sheet = host.cpu, host.sheet
    cpus = f" of {many(len(sheet['cpus']), 'CPU')}" if sheet else ""
    subject = f"{plain(host.meters.subject)}, {plain(host.meters.why)}" if host.meters else "the host"
    yield f"{subject}; percent{cpus}:"
    shares = {name: share for name in PARTS if (share := getattr(cpu, name)) is not None}
    beside = "others" if "irq" in shares else "others and interrupts"
    others = "" if cpu.others is None else f", {beside} {cpu.others:.1f}"
    tier = in_brackets(*uses(sheet).values()) if sheet else ""
    parts = (f"%{name} {share:.1f}" for name, share in shares.items())
    yield f"{'  '.join(parts)}{others}; host load {cpu.load:.1f}{tier}"
    if host.cpu_by_cause and sheet:
        yield f"by cause: {', '.join(by_cause(host))}{in_brackets(sheet['by_cause'])}"
    yield from idle_by_kind(sheet)
    if host.meters and host.meters.untraced:
        yield f"not traced, though that was asked for: {plain(host.meters.untraced)}"
    yield from network(host)
    if host.per_transaction_missing:
        yield plain(host.per_transaction_missing)
    if host.per_transaction and sheet:
        yield each_transaction(host.per_transaction) + in_brackets(
            sheet["own"]["seconds"], *(sheet["counts"][name] for name in COUNTS)
        )


def by_cause(host: HostFigures) -> Iterator[str]:
    """Write the shares of the causes, largest first, with the 95 % intervals of those that were sampled."""
    causes = sorted((host.cpu_by_cause or {}).items(), key=lambda cause: -cause[1])
    errors, intervals = host.cpu_by_cause_se or {}, host.cpu_by_cause_interval or {}
    small = [value for _, value in causes if value < SMALLEST]
    for name, value in causes:
        if value >= SMALLEST:
            within = f" [{between(*intervals[name])}]" if name in intervals else ""
            yield f"{plain(name.replace('_', ' '))} {percent(value, errors.get(name))}{within}"
    if any(small):
        yield f"{len(small)} others {rounded(sum(small), sum(small), 3)}"
    unmet = [name for name in intervals if name not in dict(causes)]
    if unmet:
        names = ", ".join(plain(name.replace("_", " ")) for name in unmet)
        yield f"no sample met {names}: each {under(intervals[unmet[0]][1])}"


def idle_by_kind(sheet: Sheet | None) -> Iterator[str]:
    """Say why the host's CPUs were idle, where the kernel was traced."""
    idle = sheet["idle"] if sheet else {}
    if idle.get("page_wait", {}).get("tier") == "exact":
        kinds = (f"{name} {idle[kind]['value']:.1f}" for kind, name in IDLE.items())
        yield f"idle by kind: {', '.join(kinds)} (exact)"


def each_transaction(each: PerTransaction) -> str:
    """Say what a transaction cost the host."""
    parts = {
        "CPU": None if each.cpu_ms is None else seconds(each.cpu_ms / 1e3),
        "page faults": sum_of(each.minor_faults, each.major_faults),
        "context switches": each.switches and digits(each.switches),
        "system calls": calls(each),
        "I/Os": each.ios and digits(each.ios) + (" (of the machine)" if "ios" in each.of_machine else ""),
    }
    return "a transaction: " + ", ".join(f"{name} {value}" for name, value in parts.items() if value)


def calls(each: PerTransaction) -> str | None:
    """Write the system calls: as counted, else as estimated from samples."""
    if each.system_calls is not None:
        return digits(each.system_calls)
    estimated = each.system_calls_estimated  # of a tenth at best: docs/meters.md
    return None if estimated is None else f"about {rounded(estimated, estimated / 10)} (estimated)"


def sum_of(*numbers: float | None) -> str | None:
    """Write a sum; none if a part of it is not known."""
    known = [number for number in numbers if number is not None]
    return digits(sum(known)) if len(known) == len(numbers) else None


def worth(host: HostFigures) -> Iterator[str]:
    """Say what the host's figures are worth."""
    if host.meters is None or host.cpu is None:
        return
    order = host.meters.order
    yield (f"order of honesty, {order} of 4: " if order else "") + plain(host.meters.honesty)
    if host.meters.accounting in SOURCES:
        yield f"its CPU time: {SOURCES[host.meters.accounting]}"
    if host.meters.doubt:
        yield f"DOUBTFUL: {plain(host.meters.doubt)}"
    if host.sheet and "value" in host.sheet["closure"]["accounted"]:
        yield closing(host.sheet["closure"])
    yield from (f"a gap in the meters: {plain(gap)}" for gap in host.meters.gaps)


SOURCES = {
    "control_group": "by the account of its control group",
    "exit_records": "by its processes' own accounts, and the last ones of those that ended; detached ones are followed",
    "exit_records_by_parent": "by its processes' accounts and their last ones; those that left their parents are lost",
    "parents": "by its processes' accounts; processes that nobody waited for, or that left their parents, are lost",
    "tracer": "traced in the kernel, from birth to end",
}
"""How the subject's CPU time is taken, and what that loses."""


def closing(closure: Mapping[str, Any]) -> str:
    """Say what was measured apart, and by how much it misses the CPUs' time."""
    accounted = closure["accounted"]["value"]
    verdict = "it closes" if closure["closes"] else "IT DOES NOT CLOSE: shares of CPU are that uncertain"
    parts = ", ".join(f"{plain(name)} {share:.1f}" for name, share in closure.get("parts", {}).items() if share >= 0.05)
    said = f"measured apart, {parts} add up to" if parts else "uses, idle and steal add up to"
    allowed = f" (within {closure['tolerance']:.1f}" if closure.get("tolerance") else ""
    below = f", and {closure['interrupts']:.1f} of interrupts" if closure.get("interrupts", 0.0) >= 0.05 else ""
    return f"{said} {accounted:.1f} % of the CPUs' time{allowed}{below}{')' if allowed else ''}: {verdict}"


def programs(host: HostFigures) -> Iterator[str]:
    """Say what was started on this machine."""
    for target, users in host.programs.items():
        yield f"{plain(target)}: started on this machine, for each of {many(users, 'user')}"


def built_in(host: BuiltInHost) -> Iterator[str]:
    """Say what the built-in host says of itself."""
    yield (
        f"built-in, by its own meters: {many(host.lines, 'line')}; took {per_s(host.served_per_s)}, "
        f"answered {per_s(host.answered_per_s)}; process CPU {share(host.cpu)} of a core"
    )
    if host.busy is not None:
        yield f"{many(host.servers, 'server')} {share(host.busy)} busy, {digits(host.queue or 0.0)} messages waiting"
    yield f"buffer pool: at most {count(host.pool_used)} of {count(host.pool_size)} characters used since it started"


def bounds(of: Asymptotes) -> Iterator[str]:
    """Say what the asymptotes are, where each is from, and where they cross."""
    if of.light:
        alone = "" if of.light.users == 1 else ", where R₀ may hold some waiting already"
        yield (
            f"light load, N / (R₀ + Z + K): R₀ {seconds(of.light.response)} and Z + K {seconds(of.light.own)} "
            f"as measured with {many(of.light.users, 'user')}{alone}"
        )
    else:
        yield f"light load, N / (R₀ + Z + K): not drawn: {of.no_light}"
    if of.heavy:
        yield (
            f"heavy load, 1 / D max = {per_s(1 / of.heavy.demand)}, {within(of.heavy.rate_interval)} a second: D max = "
            f"U/X = {seconds(of.heavy.demand)} of {plain(of.heavy.resource)}, at most {share(of.heavy.utilization)} "
            f"busy, with {listed(of.heavy.users)}; a resource that is not metered may allow less"
        )
    else:
        yield f"heavy load, 1 / D max: not drawn: {plain(of.no_heavy)}"
    for each in of.above:
        if each.is_chance:
            yield f"{surpassed(each)}: steps of this length differ so much by chance, and longer ones know better"
    if of.crossing and of.crossing_interval:
        where = f"N* = {digits(of.crossing)} users, {within(of.crossing_interval)}"
        yield f"they cross at {where}: with more, some wait for others"


def contradictions(of: Asymptotes) -> Iterator[str]:
    """Say where more was measured than a line allows."""
    for each in of.above:
        if not each.is_chance:
            yield (
                f"CONTRADICTION: {surpassed(each)}. Chance does not explain it: transactions do not take the same in "
                "all steps, or a meter is wrong. Do not rely on that line"
            )


UNHINDERED, CEILING = "if nobody had to wait", "ceiling set by the servers"
"""The asymptotes of a sweep."""
LINES = {"light": UNHINDERED, "heavy": CEILING}


def surpassed(above: Above) -> str:
    """Say which step lies above which line."""
    allows = f"{LINES[above.line]} allows {per_s(above.bound)}"
    return f"{per_s(above.per_s)} was measured with {many(above.users, 'user')}, and {allows}"


def within(interval: tuple[float, float]) -> str:
    """Write an interval of 95 %."""
    return f"with 95 % from {digits(interval[0])} to {digits(interval[1])}"


def listed(users: Sequence[int]) -> str:
    """List numbers of users, the last one after `and`."""
    *first, last = users
    return f"{', '.join(map(count, first))} and {many(last, 'user')}" if first else many(last, "user")


def swept_apart_from_users(step: StepFigures) -> str:
    """Name the point of a sweep by what was swept besides the number of users."""
    other = {name: value for name, value in step.swept.items() if name.rpartition(".")[2] != "users"}
    return ", ".join(f"{plain(name.removeprefix('group.'))} {plain(str(value))}" for name, value in other.items())


def facts_of_machine(facts: Mapping[str, object]) -> list[tuple[str, str]]:
    """Say what machine it was; what is not known is left out."""
    memory = facts.get("memory")
    known = {**facts, "memory": f"{memory / 2**30:.1f} GiB" if isinstance(memory, int | float) else None}
    return [(plain(name), plain(_listed(value))) for name, value in known.items() if value not in (None, "", [])]


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def class_of(group: str, transaction: str) -> str:
    """Name a class of transactions; a group that has only the one of its tape is named once."""
    return plain(group) if group == transaction else f"{plain(group)}: {plain(transaction)}"
