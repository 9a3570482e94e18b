"""One step of a run, from records to figures. Counts are counted; distributions come from exactly added histograms."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from cuesta._native import Histogram
from cuesta.analysis.answer_sizes import describe_sizes
from cuesta.analysis.diagnosis.find import find_causes
from cuesta.analysis.diagnosis.observed import observe
from cuesta.analysis.driver_load import describe_agents, describe_driver
from cuesta.analysis.fairness import compare_users
from cuesta.analysis.features import add_figures
from cuesta.analysis.frames import divide_frames
from cuesta.analysis.host_figures import derive_host_figures, derive_hosts
from cuesta.analysis.law import apply_law
from cuesta.analysis.limits import judge_limit
from cuesta.analysis.neighbour import describe_neighbour
from cuesta.analysis.odd_nodes import find_odd_nodes
from cuesta.analysis.overload import find_overload
from cuesta.analysis.own_part import list_void_durations
from cuesta.analysis.path.derive import derive_paths
from cuesta.analysis.planned import (
    Planned,
    has_own_nodes,
    place_transaction,
    read_limits,
    read_planned,
    read_published,
)
from cuesta.analysis.probe import compare_probes
from cuesta.analysis.published import compare_published
from cuesta.analysis.stalls import read_stalls
from cuesta.analysis.stationarity import find_shift
from cuesta.analysis.waits import Waits, is_stuck, select_waits, strip_end
from cuesta.analysis.watching import held_between
from cuesta.figures.catalogue import COUNTERS
from cuesta.figures.counts import (
    Characters,
    DueAccount,
    Errors,
    GroupCounts,
    Keystrokes,
    Transactions,
    Unfinished,
)
from cuesta.figures.durations import (
    Distribution,
    Inflation,
    KernelTimes,
    KeyTimes,
    OpeningParts,
    TransactionClass,
)
from cuesta.figures.probe import ProbeFigures
from cuesta.figures.reference import selects
from cuesta.figures.step import ResponseLaw, Settling, StepFigures
from cuesta.ledger import Interval, Recorded, StepTimes, Tag
from cuesta.ledger.run_folder import PARTS
from cuesta.records.merging import merge_records
from cuesta.records.rows import DriverCounts, UserRow, WaitingCounts, WaitSample
from cuesta.records.series import KEYS, LINE, STAMPED

ECHO_ERRORS = {"unechoed", "wrong-echo", "expect"}
"""Errors that take no time of a user: the response-time law holds with them."""

OF_CLASSES = ("response", "response_from_sent", "first_response")
OF_KEYS = ("echo", "echo_from_sent", "whole_frame", "lateness")


@dataclass
class StepRecords:
    """The records of one step, and the figures derived from them."""

    recorded: Recorded
    number: int

    def __post_init__(self) -> None:
        self.plan: Planned | None = read_planned(self.recorded, self.number)
        self.background = self.plan.background if self.plan else {}
        self.probes = {probe.group: probe for probe in self.plan.probes} if self.plan else {}
        self.apart = {*self.background, *self.probes}
        self.measured = self.recorded.measured_in(self.number)
        self.times: StepTimes = self.recorded.steps.get(self.number, StepTimes(0, 0, 0))
        own = [(agent, [row for row in agent.intervals if row.step == self.number]) for agent in self.recorded.agents]
        self.rows = [row for _, rows in own for row in rows if row.measured]
        self.before = [row for _, rows in own for row in rows if row.phase == "settle"]
        self.after = [row for _, rows in own for row in rows if row.phase == "drain"]
        self.by_agent = {agent.number: rows for agent, rows in own if rows}
        self.agents = {agent.number: agent for agent, rows in own if rows}
        self.counts = merge_counts(self.rows)
        self.last = merge_counts([rows[-1] for rows in map(measured_rows, self.by_agent.values()) if rows])
        self.seconds = max((measured_seconds(rows) for rows in self.by_agent.values()), default=0.0)
        self.users = [row for agent in self.recorded.agents for row in agent.users if row.step == self.number]

    def users_of(self, agent: int) -> list[UserRow]:
        """The users of an agent that played the step."""
        return [row for row in self.agents[agent].users if row.step == self.number]

    def figures(self) -> StepFigures:
        """Derive all figures of the step from its measurement interval."""
        users = self.plan.users if self.plan else round(self.at_work())
        done, keys = self.count_done(), self.count_keys()
        paths = derive_paths(self.recorded, self.times, self.apart)
        step = StepFigures(
            step=self.number,
            swept=self.plan.swept if self.plan else {},
            asked=self.plan.asked if self.plan else None,
            users=users,
            background=sum(self.background.values()),
            load=self.plan.load if self.plan else "unknown",
            seconds=self.seconds,
            planned_seconds=self.times.end - self.times.settled,
            transactions=Transactions(done, self.per_second(done)),
            keystrokes=Keystrokes(keys, self.per_second(keys)),
            errors=self.errors(),
            due=self.due(),
            samples=self.samples(),
            lost_users=sum(row.lost is not None for row in self.users),
            never_at_work=sum(map(self.is_never_at_work, self.users)),
            lost_for=dict(Counter(row.lost for row in self.users if row.lost is not None)),
            unfinished=Unfinished(self.last.unfinished, self.last.oldest),
            waiting=self.waiting(),
            response=paths.add_to_response(self.describe_classes("response")),
            response_from_sent=self.describe_classes("response_from_sent"),
            first_response=self.describe_classes("first_response"),
            continued=self.waits("continued", self.is_in_front).distribution(),
            echo=paths.add_to_echo(self.describe(KEYS, "echo")),
            echo_from_sent=self.describe(KEYS, "echo_from_sent"),
            whole_frame=self.describe(KEYS, "whole_frame"),
            frames=divide_frames(self.counts.frames),
            stalls=read_stalls(self.recorded, self.times, self.apart, self.describe(KEYS, "echo_from_sent").min),
            lateness=self.describe(KEYS, "lateness"),
            prepare=self.describe(LINE, "prepare"),
            connect=self.describe(LINE, "connect"),
            tls=self.describe(LINE, "tls"),
            upgrade=self.describe(LINE, "upgrade"),
            negotiation=self.describe(LINE, "negotiation"),
            login=self.describe(LINE, "login"),
            login_path=paths.login,
            session=self.describe(LINE, "session"),
            opening=OpeningParts(**{name: self.describe(LINE, name) for name in PARTS}),
            groups=self.groups(),
            classes=self.classes(),
            keys=self.keys(),
            kernel=self.kernel(),
            fairness=compare_users([row for row in self.users if row.group not in self.apart]),
            characters=self.characters(),
            law=self.law() if self.plan and self.plan.closed and not any(self.background.values()) else None,
            host=derive_host_figures(self.recorded, self.number, self.times, self.rows),
            driver=describe_driver(self),
            agents=describe_agents(self),
            odd_nodes=find_odd_nodes(self),
            neighbour=describe_neighbour(self.recorded, self.number, self.times, self.seconds),
            probe=self.probe() if self.probes else None,
            settled=self.settled(),
            limits=[],
            published=[],
            **{name: getattr(self.counts, name) for name in COUNTERS},
        )
        step = add_figures(step, self)
        step = replace(step, hosts=derive_hosts(self.recorded, self.number, self.times, self.rows, step.host))
        return replace(
            step,
            causes=find_causes(observe(self.recorded, step.errors, self.last.users, self.times, self.measured)),
            driver=replace(step.driver, voids=list_void_durations(step)),
            limits=[judge_limit(limit, step, self.find_waits) for limit in read_limits(self.recorded)],
            published=compare_published(read_published(self.recorded), self.number, step, self.find_waits),
        )

    # Counts

    def count_done(self) -> int:
        """Count the transactions that ended, but those of groups in the background and of probes."""
        return self.counts.transactions - sum(row.transactions for row in self.users if row.group in self.apart)

    def count_keys(self) -> int:
        """Count the keys that were sent, but those of groups in the background and of probes."""
        return self.counts.keys - self.count_keys_of(self.apart)

    def count_keys_of(self, groups: Collection[str]) -> int:
        keys = self.pool(lambda tag: tag.series == "lateness" and tag.group in groups)
        return keys.count if keys else 0

    def is_in_front(self, tag: Tag) -> bool:
        """Whether a figure of all users includes a tag."""
        return tag.group not in self.apart

    def groups(self) -> list[GroupCounts]:
        """Add up what became of the transactions of each group."""
        echoed = {keys.group for keys in self.keys() if keys.echo.count}
        longest = self.describe_classes("response").longest or 0.0
        names = dict.fromkeys(row.group for row in self.users)
        return [
            self.group(name, [row for row in self.users if row.group == name], name in echoed, longest)
            for name in names
        ]

    def group(self, name: str, users: Sequence[UserRow], echoed: bool, longest: float) -> GroupCounts:
        """Add up what became of the transactions of a group; `longest` is the longest response of all groups."""
        transactions = sum(row.transactions for row in users)
        answers = sum(row.waits == "answer" and is_stuck(row.waited, longest) for row in users)
        prompts = sum(row.waits == "prompt" and row.waited >= self.seconds for row in users)
        waiting = answers if transactions or echoed else answers + prompts
        return GroupCounts(name, len(users), transactions, sum(row.unanswered for row in users) + waiting)

    def is_never_at_work(self, user: UserRow) -> bool:
        """Whether a user could do nothing for want of the host. One whose session has just begun may be about to."""
        waits = user.waits == "prompt" and ((self.plan and self.plan.fixed) or user.waited >= self.seconds)
        return not user.at_work and bool(user.lost or waits or user.gave_up)

    def per_second(self, count: int) -> float | None:
        """Divide by the measured seconds; None if no time was measured."""
        return count / self.seconds if self.seconds else None

    def errors(self) -> Errors:
        """Add up the errors by name; their rate is relative to the transactions of all users and themselves."""
        measured, before = Counter(self.counts.errors), Counter(merge_counts(self.before).errors)
        done, failed = self.counts.transactions, measured.total()
        return Errors(
            count=failed,
            by_name=dict(measured.most_common()),
            before=dict(before.most_common()),
            said=merge_counts([*self.before, *self.rows, *self.after]).said,
            rate=failed / (done + failed) if done + failed else 0.0,
        )

    def samples(self) -> Mapping[str, WaitSample]:
        """The first wait of each kind that went wrong, in the measurement if there is one, else while settling."""
        return merge_counts([*self.rows, *self.before]).samples

    def characters(self) -> Characters:
        counted, typists = self.counts.characters, self.typists()
        typed, shown, line_in, line_out = map(
            self.per_second, (counted.in_, counted.out, counted.line_in, counted.line_out)
        )
        # Characters are counted for all groups together: those of a background that typed cannot be told from others.
        by_typists = None if self.count_keys_of(self.background) else typed
        per_user = by_typists / typists if typists > 0 and by_typists is not None else None
        return Characters(typed, per_user, shown, line_in, line_out)

    def typists(self) -> float:
        """The mean number of users at work, without those in the background who had a line."""
        return self.at_work() - sum(row.group in self.background and row.lost is None for row in self.users)

    def waiting(self) -> WaitingCounts:
        """Count who waited at the end. Older records have only the number of unfinished transactions."""
        last = self.last
        return last.waiting or WaitingCounts(answers=last.unfinished, oldest=last.oldest)

    def due(self) -> DueAccount | None:
        """Add up the agents' accounts of what was due."""
        if not self.last.due:
            return None
        due = DueAccount(**asdict(self.last.due), adds_up=True)
        return replace(due, adds_up=due.accounted == due.count)

    def at_work(self) -> float:
        return sum(row.active * row.length for row in self.rows) / self.seconds if self.seconds else 0.0

    # Distributions

    def pool(self, wanted: Callable[[Tag], bool], agent: int | None = None) -> Histogram | None:
        """Add up the histograms of some tags, of one agent or all; None if there is none."""
        parts = (part for (number, tag), part in self.measured.items() if agent in (None, number) and wanted(tag))
        return Histogram.sum(list(parts))

    def describe(self, source: str, series: str, group: str | None = None, agent: int | None = None) -> Distribution:
        def is_wanted(tag: Tag) -> bool:
            return tag.source == source and (tag.group == group if group else self.is_in_front(tag))

        return self.waits(series, is_wanted, agent).distribution()

    def describe_classes(self, series: str, agent: int | None = None) -> Distribution:
        return self.waits(series, lambda tag: is_class(tag) and self.is_in_front(tag), agent).distribution()

    def waits(self, series: str, wanted: Callable[[Tag], bool] = lambda _: True, agent: int | None = None) -> Waits:
        return select_waits(self.measured, series, wanted, agent)

    def find_waits(self, metric: str, transaction: str | None) -> Waits:
        """The waits that a limit is about: a metric of one class of transactions or of one group, or of all."""
        sources = {tag.source for tag in self.tags() if tag.series == metric}

        of_load = {tag.source for tag in self.tags() if tag.group not in self.probes}

        def is_wanted(tag: Tag) -> bool:
            in_all = transaction is not None or self.is_in_front(tag)
            if tag.group in self.probes and tag.source in of_load:  # the name of a transaction is that of the load's
                in_all = transaction in (tag.group, f"{tag.group}: {tag.source}")
            return in_all and selects(transaction, tag.group, tag.source, sources)

        return self.waits(metric, is_wanted)

    def probe(self) -> ProbeFigures:
        """Compare what probes saw with what others saw of the same."""

        def find(groups: Iterable[str], source: str, series: str) -> Waits:
            return self.waits(series, lambda tag: tag.group in groups and tag.source == source)

        return compare_probes(self.probes, has_own_nodes(self.recorded), self.tags(), self.seconds, find)

    def tags(self) -> list[Tag]:
        """List what was measured in this step, once each, in the order of the plan's groups and their tapes."""
        names = sorted({tag for _, tag in self.measured}, key=lambda tag: (tag.group, tag.source, tag.series))
        return sorted(names, key=lambda tag: place_transaction(self.recorded, tag.group, tag.source))

    def classes(self) -> list[TransactionClass]:
        sizes = self.answer_sizes()
        names = dict.fromkeys((tag.group, tag.source) for tag in self.tags() if is_class(tag))
        return [
            TransactionClass(
                group=group,
                transaction=transaction,
                characters=describe_sizes(sizes.get((group, transaction))),
                **{series: self.describe(transaction, series, group) for series in OF_CLASSES},
            )
            for group, transaction in names
        ]

    def answer_sizes(self) -> dict[tuple[str, str], Histogram]:
        """The sizes of answers, by group and transaction."""
        parts = defaultdict[tuple[str, str], list[Histogram]](list)
        for (_, tag), histogram in self.measured.items():
            if tag.series == "characters":
                parts[tag.group, tag.source].append(histogram)
        return {name: total for name, histograms in parts.items() if (total := Histogram.sum(histograms))}

    def keys(self) -> list[KeyTimes]:
        groups = dict.fromkeys(tag.group for tag in self.tags() if tag.series == "lateness")
        return [
            KeyTimes(group=group, **{series: self.describe(KEYS, series, group) for series in OF_KEYS})
            for group in groups
        ]

    def kernel(self) -> KernelTimes | None:
        """Compare the kernel's stamps with the driver's; None if the kernel stamped nothing."""
        kernel, user = self.describe(STAMPED, "kernel_response"), self.describe(STAMPED, "user_response")
        if None in (kernel.p50, kernel.p99, user.p50, user.p99):
            return None
        return KernelTimes(kernel, user, Inflation(user.p50 - kernel.p50, user.p99 - kernel.p99))  # type: ignore[operator]

    # Judgement

    def law(self) -> ResponseLaw | None:
        """Check the response-time law. None where waits failed: their time is in neither Z, K nor R."""
        if set(self.counts.errors) - ECHO_ERRORS:
            return None
        begun = sum(row.unfinished for row in map(start_row, self.by_agent.values()) if row)
        done, under_way = self.counts.transactions, (begun, self.last.unfinished)
        return apply_law(self.at_work(), self.seconds, done, self.counts.sums, under_way)

    def settled(self) -> Settling:
        """Describe whether users were at work when measuring began, and whether the step was in steady state."""
        starts = [start_row(rows) for rows in self.by_agent.values()]
        seconds = group_by_second(self.rows)
        responses = [
            sum(row.sums.response for row in rows) / done for rows in seconds if (done := count_transactions(rows))
        ]
        throughput = find_shift([count_transactions(rows) / rows[0].length for rows in seconds], counts=True)
        response, above = find_shift(responses), find_overload(self.plan, self.times, seconds)
        return Settling(
            self.plan.users if self.plan and self.plan.fixed else None,
            sum(row.active for row in starts if row),
            sum(row.users - row.active for row in starts if row),
            throughput,
            response,
            above,
            steady=not (throughput or response or above),
            held=held_between(self.recorded, self.times.begin, self.times.settled),
        )


def is_class(tag: Tag) -> bool:
    return strip_end(tag.series) in OF_CLASSES


def merge_counts(rows: Sequence[Interval]) -> DriverCounts:
    return merge_records(DriverCounts, rows)


def measured_rows(rows: Iterable[Interval]) -> list[Interval]:
    return [row for row in rows if row.measured]


def measured_seconds(rows: Iterable[Interval]) -> float:
    return sum(row.length for row in measured_rows(rows))


def start_row(rows: list[Interval]) -> Interval | None:
    """The row that ends where measuring begins; else the first that was measured."""
    before = [row for row in rows if row.phase == "settle"]
    return before[-1] if before else next(iter(measured_rows(rows)), None)


def group_by_second(rows: Iterable[Interval]) -> list[list[Interval]]:
    """Group the agents' rows by second, in order of time."""
    seconds = defaultdict[float, list[Interval]](list)
    for row in rows:
        seconds[round(row.start, 3)].append(row)
    return [seconds[start] for start in sorted(seconds)]


def count_transactions(rows: Iterable[Interval]) -> int:
    return sum(row.transactions for row in rows)
