"""Builds the report of one run: the headline, what is unusual, then a section for each topic."""

from collections.abc import Iterator, Sequence

from cuesta.analysis.law import agrees
from cuesta.analysis.limits import NOT_DECIDED
from cuesta.analysis.own_part import why_void
from cuesta.analysis.planned import shown
from cuesta.analysis.summary import Summary
from cuesta.analysis.unsteady import why_unsteady
from cuesta.figures.durations import Distribution, TransactionClass
from cuesta.figures.step import StepFigures
from cuesta.json_text import json_text
from cuesta.ledger import raw_files
from cuesta.report import (
    batching,
    bisync,
    capacity,
    host_section,
    published_tables,
    render,
    samples,
    search,
    sweep,
    wire,
)
from cuesta.report.figure import CENSORED, FEW, MARK, PERCENTILES, counted, duration, fact, has_weak, head, percentiles
from cuesta.report.headline import big_figures, headline, unusual, verdict
from cuesta.report.model import (
    Cell,
    Fact,
    Facts,
    Folded,
    Links,
    Listing,
    Part,
    Plots,
    Remark,
    Report,
    Section,
    Table,
    Words,
)
from cuesta.report.phrases import (
    NO_OWN_PART,
    account,
    beside,
    class_of,
    facts_of_machine,
    fairness,
    inflation,
    kept,
    law,
    law_terms,
    limit_value,
    load,
    load_meaning,
    no_law,
    own_part,
    screens,
    spinning,
    tone_of,
)
from cuesta.report.plots import courses, distributions, driver_delay
from cuesta.terminal import Styled
from cuesta.units import ABSENT, count, digits, many, named, seconds, share

AS_THE_TAPE_SAYS = "as the tape says"
DUE_AND_SENT = "times count from when a key was due, so that no wait is left out; since sent: from when it was sent"
MOST_KEPT = 6
"""Limits that were kept and that a first screen lists: those of the steps with the most users."""
MOST_LINES = 100
"""Lines that the page lists: the worst ones."""


def text(summary: Summary, colour: bool | None = None, *, verbose: bool = False) -> Styled:
    """Write one run for a terminal."""
    return render.text(of_run(summary), colour, verbose=verbose)


def of_run(summary: Summary) -> Report:
    name = str(summary.recorded.run.get("name", "run"))
    figures, parts = list(big_figures(summary)), list(sections(summary))
    said, limited_by = headline(summary), capacity.conclusion(summary)
    return Report(name, said, verdict(summary), figures, parts, summary.limits_ok, limited_by)


def sections(summary: Summary) -> Iterator[Section]:
    step = summary.last
    yield from search.section(summary)
    if summary.search is None:
        yield limits(summary)
    yield from unusual(summary)
    yield from samples.sections(summary)
    yield from batching.section(summary)
    yield from sweep.section(summary)
    yield from published_tables.sections(summary)
    yield capacity.section(summary)
    yield response(summary, step)
    yield Section("Course of the run", more=[Plots(list(courses(summary.recorded)))])
    yield throughput(step)
    yield from bisync.section(step)
    yield law_of(step)
    yield from published(summary)
    yield host_section.section(summary)
    yield from wire.section(step)
    yield driver(summary, step)
    yield Section("Users and lines", more=list(lines(summary, step)), name="USERS")
    yield Section("What was run", more=list(what_was_run(summary)), name="RUN")
    yield record(summary)


def limits(summary: Summary) -> Section:
    several = len(summary.steps) > 1
    results = [(step, judged) for step in summary.steps for judged in step.limits]
    rows = [
        (
            Words(kept(judged), judged.undecided or "", tone_of(judged)),
            (f"step {step.step + 1}: {judged.limit}" if several else judged.limit),
            limit_value(judged, summary),
        )
        for step, judged in results
    ]
    if not rows:
        return Section("Limits", [Remark("none set; for example: --limit 'response.p99 < 500ms'")])
    good = [number for number, (_, judged) in enumerate(results) if judged.ok]
    details = sorted(good, key=lambda number: -results[number][0].users)[MOST_KEPT:]
    more = f"and {count(len(details))} more kept (--verbose lists them)" if details else ""
    table = Table(("", "limit", "measured"), rows, details=details, instead=more, wraps=1)
    why = (f"{each.limit}: {NOT_DECIDED}: {each.undecided}" for _, each in results if each.undecided)
    return Section("Limits", [table, *(Remark(each, "notice") for each in dict.fromkeys(why))])


def response(summary: Summary, step: StepFigures) -> Section:
    """The distributions by class, their curves, and whether users were served alike."""
    rows = list(distribution_rows(step))
    if not rows:
        return Section("Response", [Remark(load(step)), Remark("no transaction and no echo was measured", "notice")])
    parts: list[Part] = [Remark(load(step)), *caveats(step), times(rows)]
    more: list[Part] = [*map(Remark, load_meaning(step)), Plots(list(distributions(summary.recorded, step)))]
    opening = [(name, each) for name, each in opening_of(step).items() if each.asked]
    if opening:
        cells = [(name, counted(each), duration(each, "mean"), *percentiles(each)) for name, each in opening]
        about = "every line that was opened in the step, those of the ramp included"
        more.append(Folded("Connecting (ramp-up included)", [Table(HEADS, cells, about, wide={MEAN})]))
    if answers := [each for each in step.classes if each.characters.count]:
        more.append(Folded("Characters of an answer, echoes left out", [sizes(answers)]))
    if step.fairness:
        more.append(Remark(fairness(step.fairness)))
    if step.kernel:
        more.append(Remark(inflation(step.kernel), "faint"))
    return Section("Response", parts, more)


def caveats(step: StepFigures) -> Iterator[Remark]:
    """Says above the percentiles that they are not the host's, or not only."""
    if why := why_unsteady(step):
        yield Remark(f"{why}: the times below are of this run alone", "notice")
    if own := why_void(step):
        yield Remark(f"{own}: the times below contain it", "notice")


def sizes(classes: Sequence[TransactionClass]) -> Table:
    names = ("min", "p5", "p50", "p95", "max")
    rows = [
        (class_of(each.group, each.transaction), *(count(getattr(each.characters, name)) for name in ("count", *names)))
        for each in classes
    ]
    return Table(("", "count", *names), rows)


def opening_of(step: StepFigures) -> dict[str, Distribution]:
    return {"connecting": step.connect, "negotiating": step.negotiation, "logging in": step.login}


HEADS: tuple[Cell, ...] = ("", "count", "mean", *PERCENTILES.values())
NO_SIGN = "none"
"""A wait was met, and nothing had come since its key."""
MEAN = 2
"""The column that only a page has room for."""
DistributionRow = tuple[str, Distribution | None, str]
"""A label, its distribution or None for a heading, and the figure's name in the catalogue."""


def distribution_rows(step: StepFigures) -> Iterator[DistributionRow]:
    several = len(step.keys) > 1
    for keys in step.keys:
        if keys.echo.asked:
            yield f"keystroke echo{f' of {keys.group}' if several else ''}", None, ""
            yield "echo", keys.echo, "echo"
            yield "since sent", keys.echo_from_sent, "echo_from_sent"
    classes = [each for each in step.classes if each.response.asked]
    alone = len({each.group for each in classes}) == 1
    for each in classes:
        yield each.transaction if alone else class_of(each.group, each.transaction), None, ""
        yield "first sign", each.first_response, "first_response"
        yield "answer", each.response, "response"
        yield "since sent", each.response_from_sent, "response_from_sent"
    if len(classes) > 1:
        yield "all transactions", None, ""
        yield "first sign", step.first_response, "first_response"
        yield "answer", step.response, "response"
        yield "since sent", step.response_from_sent, "response_from_sent"


def times(rows: list[DistributionRow]) -> Table:
    """A table of the distributions; with one class of transactions a terminal shows no headings."""
    single = sum(of is None for _, of, _ in rows) <= 2
    details = {
        number
        for number, (_, of, name) in enumerate(rows)
        if (of is None and single) or (of and name.endswith("_from_sent") and not delayed(rows[number - 1][1], of))
    }
    cells: list[tuple[Cell, ...]] = [
        (label,) if of is None else (head(f"{name}.p50", label), counted(of), *times_of(name, of))
        for label, of, name in rows
    ]
    weak, censored = (any(of and is_so(of) for _, of, _ in rows) for is_so in (has_weak, lambda of: of.censored))
    caption = "; ".join(filter(None, (FEW * weak, CENSORED * censored, DUE_AND_SENT)))
    return Table(HEADS, cells, caption, details=details, wide={MEAN})


def times_of(name: str, of: Distribution) -> list[str]:
    """The mean and the percentiles. No answer is as fast as its key: a first sign after 0 ns was none."""
    times = [duration(of, "mean"), *percentiles(of)]
    is_none = [name == "first_response" and time.rstrip(MARK) == seconds(0.0) for time in times]
    return [NO_SIGN if none else time for time, none in zip(times, is_none, strict=True)]


def delayed(due: Distribution | None, sent: Distribution) -> bool:
    """Whether values since due and since sent differ so much that one alone would mislead."""
    return bool(due and due.p99 and sent.p99 and due.p99 > 1.1 * sent.p99)


def throughput(step: StepFigures) -> Section:
    by_name, oldest = named(step.errors.by_name), seconds(step.unfinished.oldest)
    done = [
        fact("transactions.per_s", step, f" ({count(step.transactions.count)} counted)"),
        fact("keystrokes.per_s", step),
        fact("errors.count", step, f" ({by_name})" if by_name else ""),
        fact("skipped", step),
    ]
    rest = [
        *(fact(name, step) for name in ("characters.in_per_s", "characters.in_per_s_per_user", "characters.out_per_s")),
        *(fact(name, step) for name in ("characters.line_in_per_s", "characters.line_out_per_s")),
        *(fact(name, step) for name in ("lost_users", "never_at_work")),
        Fact("due by the load", account(step.due) if step.due else "", "what became of everything that was due"),
        fact("unfinished.count", step, f", the oldest since {oldest}" if step.unfinished.count else ""),
    ]
    return Section("Throughput", [Facts(done)], [Facts(rest)])


def law_of(step: StepFigures) -> Section:
    """Check the counts against the interactive response-time law."""
    if step.law is None:
        return Section("Consistency of the counts", list(map(Remark, no_law(step))), name="LAW")
    said, terms = Remark(law(step.law)), Remark(law_terms(step.law), "faint")
    first, more = (
        ([said], [terms]) if agrees(step.law) else ([], [said, terms])
    )  # `unusual` reports a gap on the first screen
    return Section("Consistency of the counts", first, more, name="LAW")


def published(summary: Summary) -> Iterator[Section]:
    """Published figures beside the measured ones."""
    users = {step.step: step.users for step in summary.steps}
    rows = [
        (each.what, many((each.users if each.step is None else users[each.step]) or 0, "user"), *beside(each))
        for each in summary.published
    ]
    if rows:
        sources = "; ".join(dict.fromkeys(each.source for each in summary.published))
        heads = ("figure", "", "measured", "published", "ratio")
        yield Section("Published figures", [Table(heads, rows, f"published: {sources}", wraps=0)], name="PUBLISHED")


def driver(summary: Summary, step: StepFigures) -> Section:
    """The precision of the driver."""
    late, own = step.lateness, step.driver
    delay = f"median {seconds(late.p50)}, p99 {seconds(late.p99)}, longest {seconds(late.max)}"
    said = delay if late.count else "no key was sent"
    facts = [
        Fact("delay (could be sent → sent)", said, fact("lateness.p50", step).meaning),
        fact("driver.cpu", step, f" of a core, {many(own.threads, 'thread')}{spinning(own)}"),
        Fact(part_of(step), own_part(own), fact("driver.own.p50", step).meaning),
    ]
    rest = [
        Fact(part_of(step), "" if own.own.count else NO_OWN_PART),
        fact("driver.run_wait", step),
        fact("driver.rss_per_user", step) if own.rss_per_user else Fact("", ""),
        Fact("screens", screens(own.screens) if own.screens else ""),
    ]
    groups = [(keys.group, keys.lateness) for keys in step.keys if keys.lateness.count]
    rows = [(name, count(of.count), seconds(of.mean), *percentiles(of)) for name, of in groups]
    more: list[Part] = [Facts(rest)]
    if rows:
        more.append(Table(("delay of", *HEADS[1:]), rows, wide={MEAN}))
    more.append(Plots(list(driver_delay(summary.recorded, step))))
    return Section("Driver", [Facts(facts), *agents(step)], more)


def part_of(step: StepFigures) -> str:
    """What the driver's own part is a part of: at a terminal that shows keys by itself, no host echoes any."""
    return "of each first sign of an answer" if step.driver.own.count and not step.echo.count else "of each echo"


def agents(step: StepFigures) -> Iterator[Table]:
    """The agents side by side, if there are several."""
    if len(step.agents) > 1:
        heads = (
            "agent",
            "transactions",
            *(head("response.p50"), head("response.p99"), head("lateness.p99")),
            *(head("driver.cpu", "CPU"), head("driver.run_wait", "waiting for a CPU")),
        )
        rows = [
            (
                str(agent.agent),
                counted(agent.response),
                *(duration(agent.response, name) for name in ("p50", "p99")),
                seconds(agent.lateness.p99),
                *map(share, (agent.cpu, agent.run_wait)),
            )
            for agent in step.agents
        ]
        yield Table(heads, rows)


def lines(summary: Summary, step: StepFigures) -> Iterator[Part]:
    planned = summary.recorded.run.get("steps", [])
    groups = planned[step.step]["group"] if step.step < len(planned) else []
    if groups:
        heads = ("lines of", "users", "line speed", "load", "think", "keys", "target")
        yield Table(heads, list(map(group, groups)), swept_in(step), wraps=6)
    users = [row for agent in summary.recorded.agents for row in agent.users if row.step == step.step]
    if not users:
        yield Remark("no record of single lines: it is written when a step ends", "faint")
        return
    rows = [
        (
            str(row.user),
            row.group,
            count(row.transactions),
            *((seconds(row.mean), seconds(row.max)) if row.transactions else (ABSENT, ABSENT)),
            row.lost or (f"waits for {row.waits} since {seconds(row.waited)}" if row.waits else ""),
        )
        for row in sorted(users, key=lambda row: (row.lost is None, -row.mean))[:MOST_LINES]
    ]
    which = f"the {count(len(rows))} slowest of {count(len(users))} users" if len(users) > len(rows) else "each user"
    about = "response since due, in the measurement interval; users without a transaction have none"
    of_users = ("user", "of", "transactions", "mean response", "longest", "at the end")
    yield Folded(f"Response of {which}, the slowest first", [Table(of_users, rows, about)])


AS_WRITTEN = ("name", "load", "think", "target")
"""Settings of a group that are shown as in the plan."""


def group(of: dict[str, object]) -> tuple[str, ...]:
    """Cells with the settings of a group."""
    speed, keys = of.get("line_speed"), of.get("key_rate")
    bits = AS_THE_TAPE_SAYS if speed is None else f"{count(float(str(speed)))} bit/s" if speed else "as fast as it goes"
    rate = f"{digits(float(str(keys)))}/s" if keys else AS_THE_TAPE_SAYS
    name, load_of, think, target = (str(of.get(each) or AS_THE_TAPE_SAYS) for each in AS_WRITTEN)
    return name, count(float(str(of["users"]))), bits, load_of, think, rate, target


def swept_in(step: StepFigures) -> str:
    settings = ", ".join(f"{name} {shown(name, value)}" for name, value in step.swept.items())
    return f"swept: {settings}" if settings else ""


def what_was_run(summary: Summary) -> Iterator[Part]:
    run = summary.recorded.run
    tapes = (f"{name} ({tape.get('sha256', '')[:12]})" for name, tape in run.get("tapes", {}).items())
    yield Facts(
        [
            Fact("target", ", ".join(map(str, run.get("host", {}).get("targets", [])))),
            Fact("started", str(run.get("started", ""))),
            Fact("ended", summary.ended),
            Fact("command", " ".join(str(word) for word in run.get("command", []))),
            Fact("tapes", ", ".join(tapes)),
            Fact("seed", str(run.get("seed", ""))),
            Fact("agents", str(run.get("agents", ""))),
            Fact("cuesta", str(run.get("cuesta", ""))),
        ]
    )
    machine = [Fact(name, value) for name, value in facts_of_machine(run.get("machine", {}))]
    if machine:
        yield Folded("The machine that the driver ran on", [Facts(machine)])


def record(summary: Summary) -> Section:
    """The run folder: what it lacks, and which casts can be watched."""
    folder = summary.recorded.folder
    casts = sorted(folder.glob("**/agent-*/user-*.cast"))
    watch = [Remark(f"{cast.stem.replace('-', ' ')} can be watched: asciinema play {cast}") for cast in casts]
    plan = json_text(summary.recorded.plan, indent=1)
    more: list[Part] = [
        *(Remark(damage, "notice") for damage in summary.recorded.damage),
        Folded("Raw files, from which all of this can be derived again", [Links(raw_files(folder))]),
        Folded("The plan, resolved", [Listing(plan)]),
    ]
    return Section("Record", [Remark(str(folder)), *watch], more, name="RUN FOLDER")
