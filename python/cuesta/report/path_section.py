"""The section on where the time of followed keys goes: hop by hop, by percentile, of one slow key; and of logins."""

from collections.abc import Iterable, Iterator, Sequence

from cuesta.analysis.capacity.measured_step import order_by_load
from cuesta.analysis.path.explain import explain_bands
from cuesta.analysis.path.growth import find_growth, list_means
from cuesta.analysis.path.phrases import LABELS, label_hop
from cuesta.analysis.summary import Summary
from cuesta.figures.path import AnswerPath, EchoPath, HopTimes, LoginPath, PathBand, PathHop, PathPart
from cuesta.figures.step import StepFigures
from cuesta.report.figure import head
from cuesta.report.hops_beside import compare_groups
from cuesta.report.model import Cell, Folded, Part, Plots, Remark, Section, Table, Words
from cuesta.report.plots.path import plot_path, sum_kinds
from cuesta.units import ABSENT, count, many, seconds, seconds_between, share

TITLE = "Where a key's time goes"
NAME = "PATH"
TINY = 0.001
"""Share of the host's part below which the table of the chain does not show a hop."""
SMALL = 0.01
"""Share of a login below which its table does not show a hop."""
STATISTICS = ("mean", "p50", "p95", "p99", "max")
REASONS = {
    "no_path": "nothing was seen of",
    "not_whole": "the beginning was not seen of",
    "another_answer": "another answer than the echo was followed of",
    "port_reused": "connections of one port could not be told apart of",
}
UNSEEN = (
    "no followed key was seen there: its tracer knows connections by the driver's ports, and those behind a bastion "
    "or a relay come from others; with from=ADDRESS its meters are told which (docs/path.md)"
)
HEADS: tuple[Cell, ...] = (
    "hop",
    "task",
    Words("p50", "the median of this hop"),
    Words("p95", "95 % of the keys have at most this of it"),
    Words("share", "of the host's part, on average"),
)


def sections(step: StepFigures) -> Iterator[Section]:
    """Nothing of a step in which nothing was followed."""
    path, answers, login = step.echo.path, step.response.path, step.login_path
    if not (path or answers or login):
        return
    parts, more = list[Part](), list[Part]()
    if path:
        parts += echo_parts(path)
        more += detail_parts(path)
    if answers:
        parts += map(Remark, describe_answers(answers))
        more += [bands_table(answers.bands, "a response")] if answers.bands else []
    if login:
        parts += login_parts(login)
    yield Section(TITLE, parts, more, name=NAME, brief=parts[:1])


def describe_growth(summary: Summary) -> Iterator[str]:
    """Which hop of followed keys grows with the load: from the lightest step or trial to the heaviest."""
    known = [point for point in order_by_load(summary) if list_means(point.step.echo.path)]
    ends = (known[0], known[-1]) if len(known) > 1 else ()
    if ends and (growth := find_growth(*(list_means(point.step.echo.path) for point in ends))):
        light, heavy = (point.text for point in ends)
        yield f"of a key, what grows most from {light} to {heavy}: {growth}"


def echo_parts(path: EchoPath) -> Iterator[Part]:
    if not path.keys:
        nothing = f"{many(path.missing, 'key')} could be followed, and no host's tracer wrote a path (--meters exact)"
        why = describe_missing(path) if path.paths else nothing
        yield Remark(f"no followed key has a known path: {why}", "notice")
        return
    yield Remark(describe_parts(path))
    if sentence := explain_bands(path.bands, "an echo"):
        yield Remark(sentence)
    yield chain_table(path)
    if path.groups:
        yield compare_groups(path.groups)
    yield Remark(f"not attributed to a hop: {describe_unclosed(path)}; {describe_price(path)}", "faint")
    if path.missing or path.coalesced or path.several:
        yield Remark(describe_missing(path), "notice" if path.missing > path.keys / 10 else "faint")
    if path.not_shown:
        yield Remark(f"not shown by this kernel: {'; '.join(path.not_shown)}", "notice")
    yield from (Remark(f"{name}: {UNSEEN}", "notice") for name, host in (path.hosts or {}).items() if not host.keys)
    if path.lost:
        yield Remark(f"{many(path.lost, 'path')} were lost: the tracer was not read in time", "notice")


def describe_parts(path: PathPart) -> str:
    """How many keys were followed, and how much of them is the host's."""
    outside = f", outside of it {seconds(path.outside.p50)}" if path.outside.p50 is not None else ""
    return f"{many(path.keys, 'key')} followed: at the host {write_times(path.host)}{outside}"


def write_times(times: HopTimes) -> str:
    return f"{seconds(times.p50)} (p95 {seconds(times.p95)})"


def describe_unclosed(path: PathPart) -> str:
    return f"{seconds(path.unclosed.p50)} of the host's part, at most {seconds(path.unclosed.max)}"


def describe_price(path: PathPart) -> str:
    if path.price is None or path.price_low is None or path.price_high is None:
        few = f"too few were left out to tell it ({count(path.control)})" if path.control else "none was left out"
        return f"what following costs a key is not known: {few}"
    if path.price < 0:
        most = f": by at most {seconds(path.price_high)} (95 %)" if path.price_high > 0 else ""
        return f"a followed key is not seen to be later than one of the {count(path.control)} left out{most}"
    between = seconds_between(path.price_low, path.price_high) if path.price_low >= 0 else ""
    within = between or f"{seconds(path.price_low)} to {seconds(path.price_high)}"
    return (
        f"a followed key is {seconds(path.price)} later than one of the {count(path.control)} left out (95 %: {within})"
    )


def describe_missing(path: PathPart) -> str:
    """Which keys have no path, or share one, or had several answers."""
    missing = [f"{REASONS.get(name, name)} {count(number)}" for name, number in path.missing_for.items()]
    parts = [f"{many(path.missing, 'key')} without a path: {', '.join(missing)}" if path.missing else ""]
    parts += [f"{many(path.coalesced, 'key')} came together with others" if path.coalesced else ""]
    parts += [f"the echoes of {many(path.several, 'key')} came in several packets" if path.several else ""]
    return "; ".join(filter(None, parts)) or "no key was echoed"


def chain_table(path: PathPart) -> Table:
    shown = [hop for hop in path.chain if hop.share >= TINY]
    rows = [
        (LABELS.get(hop.kind, hop.kind), hop.task, seconds(hop.p50), seconds(hop.p95), share(hop.share))
        for hop in shown
    ]
    which = "all" if path.chain_keys == path.keys else f"{count(path.chain_keys)} of {count(path.keys)}"
    about = f"the chain of {which} followed keys, in order; waits of a task are interleaved with its work"
    caption = f"{about}; hops below {share(TINY)} are left out" if len(shown) < len(path.chain) else about
    return Table(HEADS, rows, caption, wraps=1)


def detail_parts(path: EchoPath) -> Iterator[Part]:
    if not path.keys:
        return
    yield Plots(list(plot_path(path)))
    yield bands_table(path.bands, "an echo")
    if path.slow_key:
        title = f"One slow key, hop by hop: {seconds(path.slow_key.seconds)}, user {path.slow_key.user}"
        yield Folded(title, [hops_table(path.slow_key.hops)])
    yield Folded("Of all followed keys, by kind of hop", [kinds_table(path)])
    if path.hosts:
        yield Table(("host", "keys", "p50", "p95"), [host_row(name, host) for name, host in path.hosts.items()])


def kinds_table(path: PathPart) -> Table:
    """The sum of each kind of hop over a key: what limits and `cuesta ledger` call `echo.path.KIND`."""
    names = {"host": "at the host", **LABELS}
    known = [(name, label, getattr(path, name)) for name, label in names.items()]
    rows: list[tuple[Cell, ...]] = [
        (head(f"echo.path.{name}.p95", label), *(seconds(getattr(times, each)) for each in STATISTICS))
        for name, label, times in known
        if times.max is None or times.max > 0
    ]
    return Table(("in each key", *STATISTICS), rows)


def host_row(name: str, host: PathPart) -> tuple[Cell, ...]:
    return name, count(host.keys), seconds(host.host.p50), seconds(host.host.p95)


def bands_table(bands: Sequence[PathBand], what: str) -> Table:
    """The time of keys around each percentile, by kind of hop."""
    sums = [sum_kinds(band.parts) for band in bands]
    kinds = [kind for kind in LABELS if any(each.get(kind) for each in sums)]
    rows = [(LABELS[kind], *(seconds(each[kind]) if kind in each else ABSENT for each in sums)) for kind in kinds]
    rows.append(("all", *(seconds(band.seconds) for band in bands)))
    return Table((f"of {what}", *(f"p{band.percentile:g}" for band in bands)), rows, "means of the keys around each")


def hops_table(hops: Iterable[PathHop]) -> Table:
    rows = [(seconds(hop.begin), LABELS.get(hop.kind, hop.kind), hop.task, *hop_cells(hop)) for hop in hops]
    return Table(("after", "hop", "task", "time", "with"), rows, wraps=4)


def hop_cells(hop: PathHop) -> tuple[str, str]:
    other = f"{hop.other}, pid {hop.other_pid}" if hop.other and hop.other_pid else hop.other or ""
    return seconds(hop.seconds), ", ".join(filter(None, (hop.call, other, hop.why)))


def describe_answers(answers: AnswerPath) -> Iterator[str]:
    if not answers.keys:
        yield f"{many(answers.missing, 'followed answer')} without a known path"
        return
    outside = f", outside of it {seconds(answers.outside.p50)}"
    sentence = explain_bands(answers.bands, "a response")
    what = f"{many(answers.keys, 'answer')} followed: at the host {write_times(answers.host)}{outside}"
    yield "; ".join(filter(None, (what, sentence)))


def login_parts(login: LoginPath) -> Iterator[Part]:
    if not login.logins:
        yield Remark(
            f"{many(login.missing, 'followed login')} without a path from the connection to the prompt", "faint"
        )
        return
    missing = f"; {many(login.missing, 'login')} could not be followed" if login.missing else ""
    rounds = f" in {many(round(login.rounds), 'round')}" if login.rounds else ""
    of_host = f"at the host {write_times(login.host)}, outside of it {seconds(login.outside.p50)}"
    yield Remark(f"{many(login.logins, 'login')} followed{rounds}: {of_host}{missing}")
    shown = [part for part in login.parts if part.share >= SMALL]
    rows = [(label_hop(part.kind, part.task), seconds(part.seconds), share(part.share), tell(part)) for part in shown]
    yield Table(("of a login", "mean", "share", "with"), rows, wraps=3)


def tell(part: PathHop) -> str:
    """Of hops of several logins, whose tasks have one name and several numbers."""
    return ", ".join(filter(None, (part.call, part.other, part.why)))
