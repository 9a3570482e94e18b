"""What a terminal shows of a run while it goes on: rows of text, made anew from what is known. Pure.

The most important rows come first; what finds no room is left out from the end.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from rich.color import Color
from rich.style import Style
from rich.text import Text

from cuesta.columns import cut
from cuesta.live.about import About, LiveLimit
from cuesta.live.history import History, sparkline
from cuesta.live.view import HostView, Quantiles, View
from cuesta.plain_text import plain
from cuesta.records.messages import ScreenSpan, UserGlimpse, UserScreen
from cuesta.units import count, digits, many, seconds, share

LABEL = 10
"""Columns of the names of rows."""
FAINT, GOOD, BAD, NAME = "dim", "green", "bold red", "bold"
NAMES = {
    "unstarted": "not started",
    "opening": "connecting",
    "awaiting_answer": "waiting for an answer",
    "awaiting_prompt": "waiting for a prompt",
    "keying": "typing",
    "thinking": "thinking",
    "idle": "idle",
    "lost": "without a line",
}
"""What users do, in the order in which it is shown."""
RICH_NAMES = {
    "faint": "dim",
    "underlined": "underline",
    "blinking": "blink",
    "inverse": "reverse",
    "crossed_out": "strike",
}
"""Attributes of characters that rich names otherwise."""
SLOW = 1.0
"""Seconds from which a wait is shown as bad."""


@dataclass(slots=True)
class Scene:
    """All that is shown."""

    about: About
    view: View
    history: History
    told: Sequence[str] = ()
    """What was said of the run, the newest last: trials of a search, pairs of a comparison."""
    keys: str = ""
    """What the keys do, or a question."""
    price: float | None = None
    """CPU time of the view itself, as a part of one core."""
    extra: Sequence[Text] = field(default_factory=list)


def draw(scene: Scene, width: int, height: int) -> list[Text]:
    """The rows of a screen of this size."""
    rows = [*_head(scene, width), *scene.extra] if scene.extra else [*_head(scene, width), *_body(scene, width)]
    blank = [Text() for _ in range(height - 1 - len(rows))]
    return [_fit(row, width) for row in (*rows[: height - 1], *blank, Text(scene.keys, FAINT))]


def _fit(row: Text, width: int) -> Text:
    row.truncate(width, overflow="ellipsis", pad=True)
    return row


def _head(scene: Scene, width: int) -> Iterator[Text]:
    view = scene.view
    step = f" {view.step + 1} of {view.steps}" if view.steps > 1 else ""
    total = "" if view.total is None else f" of {view.total:.0f}"
    at = f"{view.phase}{step}  {view.elapsed:.0f}{total} s"
    yield Text.assemble((cut(plain(scene.about.title), max(width - len(at) - 2, 10)), NAME), "  ", at)
    if view.total:
        done = min(round(view.elapsed / view.total * width), width)
        yield Text.assemble(("━" * done, "cyan"), ("━" * (width - done), FAINT))


def _body(scene: Scene, width: int) -> Iterator[Text]:
    view, history = scene.view, scene.history
    yield _row("USERS", _users(view))
    spark = max(min(width - 60, 60), 0)

    def rate(of: Callable[[View], float]) -> str:
        return f"{digits(of(view))} a second"

    yield _sparked("KEYS", rate(_keys), history.values(_keys), spark)
    yield _sparked("ANSWERS", rate(_answers), history.values(_answers), spark)
    yield _sparked("ECHO", _times(view.echo), history.values(lambda each: each.echo.p95 if each.echo else None), spark)
    response = history.values(lambda each: each.response.p95 if each.response else None)
    yield _sparked("RESPONSE", _times(view.response), response, spark)
    if view.errors:
        yield _row("ERRORS", Text(count(view.errors), BAD))
    for limit in scene.about.limits:
        yield _row("LIMIT", _limit(limit, view))
    late = view.lateness.p99 if view.lateness else None
    driver = f"late by {seconds(late)} (p99)  CPU {share(view.driver_cpu)} of a core"
    price = f"  this view {share(scene.price)}" if scene.price is not None else ""
    lateness = history.values(lambda each: each.lateness.p99 if each.lateness else None)
    yield _sparked("DRIVER", driver + price, lateness, spark)
    for host in view.hosts:
        yield _row("HOST", _host(host))
    slowest = [each for each in view.glimpses if each.because == "slowest"]
    for number, glimpse in enumerate(slowest[:5]):
        yield _row("" if number else "SLOWEST", _glimpse(glimpse))
    for number, said in enumerate(reversed(scene.told)):
        yield _row("" if number else "LAST", Text(plain(said)))


def _keys(view: View) -> float:
    return view.keys_per_s


def _answers(view: View) -> float:
    return view.per_s


def _row(name: str, text: Text) -> Text:
    return Text.assemble((f"{name:<{LABEL}}", NAME), text)


def _sparked(name: str, text: str, values: Sequence[float | None], width: int) -> Text:
    row = Text.assemble((f"{name:<{LABEL}}", NAME), f"{text:<48} ")
    return row.append(sparkline(values, width), "cyan")


def _users(view: View) -> Text:
    text = Text(count(view.users))
    for name, label in NAMES.items():
        if number := view.doing.get(name):
            text.append(f"  {label} {count(number)}", BAD if name == "lost" else "")
    if view.longest >= SLOW:
        text.append(f"  longest wait {seconds(view.longest)}", BAD)
    return text


def _times(times: Quantiles | None) -> str:
    if times is None:
        return "none in the last second"
    return f"p50 {seconds(times.p50)}  p95 {seconds(times.p95)}  p99 {seconds(times.p99)}"


def _limit(limit: LiveLimit, view: View) -> Text:
    figure, _, quantile = limit.figure.partition(".")
    times = getattr(view, figure, None)
    value = getattr(times, quantile, None)
    if value is None:
        return Text.assemble(limit.text, ("  judged at the end", FAINT))
    part = value / limit.value if limit.value else 0.0
    filled = min(round(part * 20), 20)
    style = BAD if part >= 1 else GOOD
    return Text.assemble(
        f"{limit.text}  now {seconds(value)}  ", ("█" * filled, style), ("░" * (20 - filled), FAINT), f" {part:.0%}"
    )


def _host(host: HostView) -> Text:
    if host.idle is None:
        return Text(f"no reading: {plain(host.why or '')}", FAINT)
    causes = "  ".join(f"{name.replace('_', ' ')} {value:.1f}" for name, value in host.causes[:4])
    return Text.assemble(
        f"CPU usr {host.usr:.1f} sys {host.sys:.1f} idle {host.idle:.1f} %",
        (f"  by cause: {causes}", FAINT) if causes else "",
    )


def _glimpse(glimpse: UserGlimpse) -> Text:
    waits = f"waits {seconds(glimpse.waited)}" if glimpse.waited else f"mean {seconds(glimpse.mean)}"
    text = Text(f"user {glimpse.user} {waits}", BAD if glimpse.waited >= SLOW else "")
    if glimpse.condition:
        text.append(f" for {plain(glimpse.condition)}")
    if glimpse.row:
        text.append(f"  {plain(glimpse.row)}", FAINT)
    if not glimpse.waited:
        text.append(f"  {many(glimpse.transactions, 'transaction')}, {NAMES[glimpse.doing]}", FAINT)
    return text


def draw_screen(user: int, screen: UserScreen | None) -> list[Text]:
    """A user's screen, with its colours and its cursor."""
    if screen is None:
        return [Text(f"user {user}: no line, or not seen yet", FAINT)]
    about = "" if screen.is_whole else "; no tape looks at it: what came since it is shown here"
    return [Text(f"user {user}{about}", FAINT), *(_screen_row(screen, row) for row in range(len(screen.rows)))]


def _screen_row(screen: UserScreen, number: int) -> Text:
    row = Text()
    for span in screen.rows[number]:
        row.append(plain(span.text), _style(span))
    if screen.cursor and screen.cursor[0] == number:
        row.pad_right(max(screen.cursor[1] + 1 - row.cell_len, 0))
        row.stylize("reverse", screen.cursor[1], screen.cursor[1] + 1)
    return row


def _style(span: ScreenSpan) -> Style:
    attributes = " ".join(RICH_NAMES.get(name, name) for name in span.attributes)
    return Style.parse(attributes) + Style(color=_colour(span.foreground), bgcolor=_colour(span.background))


def _colour(name: str | None) -> Color | None:
    if name is None:
        return None
    return Color.parse(name) if name.startswith("#") else Color.from_ansi(int(name))
