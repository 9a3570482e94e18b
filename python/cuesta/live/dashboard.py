"""What a terminal shows of a run while it goes on: rows of text, made anew from what is known. Pure.

Each row has a rank: where there are fewer rows than that, those of the highest rank are left out.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from cuesta.columns import cut, wrap_text
from cuesta.live.about import About, LiveLimit
from cuesta.live.history import History, sparkline
from cuesta.live.rows import BAD, DRAWN, FAINT, GOOD, LABEL, NAME, Ranked, gap, labelled, right_aligned
from cuesta.live.search_rows import rows_of_search
from cuesta.live.view import HostView, Quantiles, View
from cuesta.plain_text import plain
from cuesta.records.messages import UserGlimpse
from cuesta.records.observation import RunOfSeries
from cuesta.units import count, digits, many, seconds, share

TIMES = 38
"""Columns of the figures before a sparkline."""
WIDEST_SPARKLINE = 60
NAMES = {
    "unstarted": "not started",
    "opening": "connecting",
    "lost": "without a line",
    "awaiting_answer": "awaiting an answer",
    "awaiting_prompt": "awaiting a prompt",
    "keying": "typing",
    "thinking": "thinking",
    "idle": "idle",
}
"""What users do, in the order in which it is shown."""
ALWAYS = ("awaiting_answer", "keying", "thinking")
"""Shown also with a count of 0, so that the others keep their places."""
PHASES = {"settle": "settling", "measure": "measuring", "drain": "ending", "start": "starting"}
SLOW = 1.0
"""Seconds from which a wait is shown as bad."""
ADDRESSES = {"web": ("PAGE", 1), "prometheus": ("METRICS", 5)}
"""The label and the rank of the row of an address, by the name of the outlet."""


@dataclass(slots=True)
class Scene:
    """All that is shown."""

    about: About
    view: View | None
    """None before the first snapshot."""
    history: History
    waited: float = 0.0
    """Seconds until now that the first snapshot has been waited for."""
    told: Sequence[str] = ()
    """What was said of the run, the newest last: trials of a search, pairs of a comparison."""


def draw(scene: Scene, width: int, height: int) -> list[Text]:
    """The rows of a screen of this size."""
    rows = [*_head(scene, width), *_body(scene, width)]
    # The most important ones, in their order.
    best = sorted(range(len(rows)), key=lambda number: rows[number][0])[: max(height, 0)]
    return [rows[number][1] for number in sorted(best)]


def _title(scene: Scene, width: int) -> Text:
    """What is run, and when that is."""
    at, view = when(scene), scene.view
    series = _series(view.series) if view and view.series else ""
    title = cut(plain(scene.about.title), max(width - len(at) - len(series) - 2, 10))
    return right_aligned(Text.assemble((title, NAME), series), at, width)


def when(scene: Scene) -> str:
    """The phase, and the time of how long."""
    view = scene.view
    if view is None:
        return f"starting  {clock(scene.waited)}"
    step = f", step {view.step + 1} of {view.steps}" if view.steps > 1 and not view.search else ""
    total = "" if view.total is None else f" of {clock(view.total)}"
    phase = "summing up" if view.is_finished else PHASES.get(view.phase, view.phase)
    return f"{phase}{step}  {clock(view.elapsed)}{total}"


def _series(series: RunOfSeries) -> str:
    name = f" ({plain(series.name)})" if series.name else ""
    discarded = f", {series.discarded} did not count" if series.discarded else ""
    return f"  {series.what} {series.number} of {series.of}{name}{discarded}"


def clock(value: float) -> str:
    """A time of a run, as `1:07` or `2:00:07`."""
    minutes, second = divmod(round(value), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def _head(scene: Scene, width: int) -> Iterator[Ranked]:
    yield 0, _title(scene, width)
    for name, address in scene.about.addresses.items():
        label, rank = ADDRESSES[name]
        yield from ((rank, row) for row in _address(label, plain(address), width))
    if scene.view and scene.view.total:
        done = min(round(scene.view.elapsed / scene.view.total * width), width)
        yield 3, Text.assemble(("━" * done, DRAWN), ("━" * (width - done), FAINT))


def _address(label: str, address: str, width: int) -> Iterator[Text]:
    """All of an address, without its label where there is no room for both: it is copied from here."""
    if LABEL + len(address) <= width:
        yield labelled(label, Text(address))
    else:
        yield from (Text(address[at : at + width]) for at in range(0, len(address), width))


def _body(scene: Scene, width: int) -> Iterator[Ranked]:
    view = scene.view
    if view is None:
        yield 0, Text()
        yield 0, Text("the host and the users are being started", FAINT)
    else:
        yield from ((0, row) for row in _users(view, width))
        yield gap()
        if view.search:
            yield from rows_of_search(view.search, width)
            yield gap()
        yield from _figures(scene, view, width)
        yield from _hosts(scene, view, width)
        yield gap()
        yield from _people(view)
    yield gap()
    for number, said in enumerate(reversed(scene.told) if view is None or not view.search else ()):
        yield (6 if number else 4), labelled("" if number else "LAST", Text(plain(said)))


def _users(view: View, width: int) -> Iterator[Text]:
    """How many do what, in as many rows as it takes."""
    size = len(count(sum(view.doing.values())))
    items = [
        (f"{count(number):>{size}} {label}", BAD if name == "lost" else "")
        for name, label in NAMES.items()
        if (number := view.doing.get(name, 0)) or (name in ALWAYS and view.doing)
    ]
    if view.longest >= SLOW:
        items.append((f"longest wait {seconds(view.longest)}", BAD))
    row = labelled("USERS", Text(f"{count(view.users):>{size}}"))
    for item, style in items:
        if row.cell_len + 2 + len(item) > width:
            yield row
            row = labelled("", Text(" " * size))
        row.append("  ").append(item, style)
    yield row


def _figures(scene: Scene, view: View, width: int) -> Iterator[Ranked]:
    def sparked(name: str, text: str, of: Callable[[View], float | None]) -> Text:
        row = labelled(name, Text(f"{text:<{TIMES}}"))
        spark = min(width - LABEL - TIMES - 2, WIDEST_SPARKLINE)
        return row.append(f"  {sparkline(scene.history.values(of), spark)}", DRAWN) if spark > 0 else row

    yield 0, sparked("ECHO", _times(view.echo), lambda each: each.echo.p95 if each.echo else None)
    yield 0, sparked("RESPONSE", _times(view.response), lambda each: each.response.p95 if each.response else None)
    for row in _limits(scene.about.limits, view, width):
        yield 0, row
    if view.errors:
        yield 0, labelled("ERRORS", Text(count(view.errors), BAD))
    yield gap()
    yield 3, sparked("KEYS", f"{digits(view.keys_per_s):>9} a second", lambda each: each.keys_per_s)
    yield 3, sparked("ANSWERS", f"{digits(view.per_s):>9} a second", lambda each: each.per_s)
    late = seconds(view.lateness.p99) if view.lateness else "—"
    driver = f"late {late:>7} (p99)  CPU {share(view.driver_cpu):>7}"
    yield 2, sparked("DRIVER", driver, lambda each: each.lateness.p99 if each.lateness else None)


def _times(times: Quantiles | None) -> str:
    if times is None:
        return "none in the last second"
    values = {"p50": times.p50, "p95": times.p95, "p99": times.p99}
    return "  ".join(f"{name} {seconds(value):>7}" for name, value in values.items())


def _limits(limits: Sequence[LiveLimit], view: View, width: int) -> Iterator[Text]:
    texts = [cut(plain(limit.text), 30) for limit in limits]
    longest = max(map(len, texts), default=0)
    for limit, text in zip(limits, texts, strict=True):
        yield labelled("LIMIT", _limit(limit, f"{text:<{longest}}", view, width - LABEL))


def _limit(limit: LiveLimit, text: str, view: View, width: int) -> Text:
    figure, _, quantile = limit.figure.partition(".")
    value = getattr(getattr(view, figure, None), quantile, None)
    if value is None:
        why = "none in the last second" if hasattr(view, figure) else "judged at the end"
        return Text.assemble(text, (f"  {why}", FAINT))
    part = value / limit.value if limit.value else 0.0
    size = min(max(width - len(text) - 20, 5), 40)
    filled = min(round(part * size), size)
    bar = (("█" * filled, BAD if part >= 1 else GOOD), ("░" * (size - filled), FAINT))
    return Text.assemble(f"{text}  now {seconds(value):>7}", " ", *bar, f" {part:>5.0%}")


def _hosts(scene: Scene, view: View, width: int) -> Iterator[Ranked]:
    for number, host in enumerate(view.hosts):
        name = "HOST" if len(view.hosts) == 1 else f"HOST {number + 1}"
        if host.idle is None:
            yield 2, labelled(name, Text(f"no reading: {plain(host.why or '')}", FAINT))
            continue
        cpu = f"CPU usr {host.usr:>5.1f}  sys {host.sys:>5.1f}  idle {host.idle:>5.1f} %"
        row = labelled(name, Text(f"{cpu:<{TIMES}}"))
        spark = min(width - LABEL - TIMES - 2, WIDEST_SPARKLINE)
        busy = scene.history.values(_busy_of(number))
        yield 2, row.append(f"  {sparkline(busy, spark, 100.0)}", DRAWN) if spark > 0 else row
        for line in _causes(host, width - LABEL):
            yield 5, labelled("", Text(line, FAINT))


def _busy_of(number: int) -> Callable[[View], float | None]:
    def busy(view: View) -> float | None:
        idle = view.hosts[number].idle if number < len(view.hosts) else None
        return None if idle is None else 100 - idle

    return busy


def _causes(host: HostView, width: int) -> Iterable[str]:
    """CPU time by cause, in at most two rows."""
    causes = ", ".join(
        f"{name.replace('_', ' ')}\N{NO-BREAK SPACE}{value:.1f}" for name, value in host.causes if value >= 0.05
    )
    rows = list(wrap_text(f"by cause: {causes}" if causes else "", width))
    return [row.replace("\N{NO-BREAK SPACE}", " ") for row in rows[:2]]


def _people(view: View) -> Iterator[Ranked]:
    """Users who stand out: those that failed first."""
    listed = set[int]()
    for because, ranks in {"failed": (3, 3, 6), "slowest": (4, 4, 4, 5, 5), "typical": (5, 6, 6)}.items():
        users = [each for each in view.glimpses if each.because == because and each.user not in listed][: len(ranks)]
        listed |= {each.user for each in users}
        for number, (glimpse, rank) in enumerate(zip(users, ranks, strict=False)):
            yield rank, labelled("" if number else because.upper(), describe_user(glimpse))


def describe_user(glimpse: UserGlimpse) -> Text:
    """One user: how slow it is, and what it waits for or does."""
    text = Text(f"{f'user {glimpse.user}':<10}  ")
    if glimpse.lost:
        return text.append(f"without a line: {plain(glimpse.lost)}", BAD)
    if glimpse.waited:
        text.append(f"waits {seconds(glimpse.waited):>7}", BAD if glimpse.waited >= SLOW else "")
    else:
        text.append(f"mean  {seconds(glimpse.mean) if glimpse.transactions else '—':>7}")
    if glimpse.condition:
        text.append(f"  for {plain(glimpse.condition)}")
        return text.append(f"  {plain(glimpse.row)}", FAINT) if glimpse.row else text
    does = f"  {many(glimpse.transactions, 'transaction')}, {NAMES.get(glimpse.doing, glimpse.doing)}"
    return text.append(does, FAINT)
