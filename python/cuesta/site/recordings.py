"""The page that plays a user's recorded session (`--cast`) beside a chart, with one time axis.

Screens are made of the cast by the screen that the users sit at; the browser draws rows of text.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from cuesta.errors import InputError
from cuesta.foreign_files import read_bytes
from cuesta.plain_text import plain
from cuesta.report.model import Plots, Section
from cuesta.report.render.page import write_sections
from cuesta.site.entries import Entry, is_closed
from cuesta.site.frame import frame
from cuesta.site.reports import Reports
from cuesta.units import seconds

CHUNK = 60.0
"""Seconds of a cast that a browser asks for at once."""
EVERY = 0.1
"""Seconds between two screens, at least."""
LONGEST = 64 << 20
"""Bytes of a cast."""
NOT_LOGGED = "a plan with log_keys and log_transactions records each key and transaction of this user"
MOST_MOMENTS = 12
"""Slow moments that are listed."""
PLAYER = Markup(
    '<section class="player" data-source="{source}" data-offset="{offset}" data-chunk="{chunk}">\n'
    "<h2>What user {user} saw</h2>\n"
    '<div class="screen" id="screen" role="img" aria-label="The screen of user {user}"></div>\n'
    '<div class="controls">\n<button type="button" id="play" aria-keyshortcuts="Space">Play</button>\n'
    '<label class="hidden" for="seek">Time</label>\n'
    '<input type="range" id="seek" min="0" max="0" step="0.1" value="0"/>\n'
    '<output id="time" for="seek">0.0 s</output>\n'
    '<label>Speed <select id="speed"><option value="0.25">¼</option><option value="1" selected="">1</option>'
    '<option value="4">4</option><option value="16">16</option></select></label>\n</div>\n'
    '<p class="faint">Space plays and stops, ← and → go a second, Shift with them a tenth, Home and End to the ends. '
    'A click on a chart shows the screen at that time. <span id="marker" role="status"></span></p>\n'
    '<p><button type="button" id="read">Read the screen as text</button></p>\n'
    '<pre id="text" tabindex="0" hidden="" aria-label="The text of the screen"></pre>\n</section>\n'
)
MOMENT = Markup('<li><button type="button" data-at="{at:.3f}">{when}</button> {what}</li>\n')
MOMENTS = Markup(
    '<section>\n<h2>The slowest moments{}</h2>\n<ul class="moments">\n{}</ul>\n<p class="faint">{}</p>\n</section>\n'
)


@dataclass(frozen=True, slots=True)
class CastFile:
    """A cast in a run folder."""

    name: str
    """As an address has it: `user-3`, or of a later segment `2-user-3`."""
    file: Path
    segment: int

    @property
    def user(self) -> str:
        """The number of the user."""
        return self.file.stem.removeprefix("user-")


def casts_of(entry: Entry) -> list[CastFile]:
    """The casts of a run, in order of its segments."""
    found = []
    for number, segment in enumerate(_segments(entry)):
        for file in sorted(segment.glob("agent-*/user-*.cast")):
            if is_closed(entry.folder, [str(file.relative_to(entry.folder))]):
                prefix = f"{number + 1}-" if number else ""
                found.append(CastFile(f"{prefix}{file.stem}", file, number))
    return found


def _segments(entry: Entry) -> list[Path]:
    """The folders of a run's segments."""
    segments = entry.about.get("segments")
    names = (
        [each.get("folder", ".") for each in segments if isinstance(each, dict)]
        if isinstance(segments, list)
        else ["."]
    )
    own = [name for name in names if isinstance(name, str) and is_closed(entry.folder, [name])]
    return [entry.folder / name for name in own]


def recording_routes(find: Callable[[Request], Awaitable[Entry]], reports: Reports) -> Sequence[BaseRoute]:
    """The page of a cast, and its screens."""

    async def named(request: Request) -> tuple[Entry, CastFile]:
        entry = await find(request)
        for cast in casts_of(entry):
            if cast.name == request.path_params["name"]:
                return entry, cast
        raise HTTPException(404, "this run has no such recording")

    async def watch(request: Request) -> Response:
        entry, cast = await named(request)
        source = f"/run/{entry.id}/watch/{cast.name}/screens"
        page = await reports.work(lambda: _watch(entry, cast, source))
        return HTMLResponse(page)

    async def screens(request: Request) -> Response:
        _, cast = await named(request)
        number = request.query_params.get("chunk", "0")
        if not (number.isdecimal() and len(number) < 8):
            raise HTTPException(400, "expected the number of a chunk")
        text = await reports.work(lambda: _screens(cast.file, int(number)))
        return Response(text, media_type="application/json")

    return [Route("/run/{id}/watch/{name}", watch), Route("/run/{id}/watch/{name}/screens", screens)]


def _screens(file: Path, chunk: int) -> str:
    """A stretch of a cast as JSON. Raises InputError."""
    from cuesta._native import Cast  # noqa: PLC0415, slow to load

    try:
        cast = Cast.read(read_bytes(file, LONGEST))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read: {error}") from None
    return cast.frames(chunk * CHUNK, (chunk + 1) * CHUNK, EVERY)


def _watch(entry: Entry, cast: CastFile, source: str) -> Markup:
    from cuesta.ledger import open_run  # noqa: PLC0415, slow to load
    from cuesta.report.plots.beside_cast import plot_beside_cast  # noqa: PLC0415

    recorded = open_run(entry.folder)
    begins = sorted({agent.origin.time for agent in recorded.agents})
    offset = begins[cast.segment] if cast.segment < len(begins) else 0.0
    user = int(cast.user) if cast.user.isdecimal() else -1
    course = plot_beside_cast(recorded, user, MOST_MOMENTS)
    moments = [
        MOMENT.format(at=each.at, when=f"{each.at:.1f} s", what=f"{seconds(each.seconds)}: {plain(each.what)}")
        for each in course.slowest
    ]
    sections = [Section("Over time", [Plots(course.plots)] if course.plots else [])]
    chart = write_sections(sections, lambda file: ("", file.name))
    player = PLAYER.format(source=source, offset=offset, chunk=CHUNK, user=plain(cast.user))
    whose, note = (" of this user", "") if course.is_of_user else (" of all users", NOT_LOGGED)
    listed = MOMENTS.format(whose, Markup().join(moments), note) if moments else Markup()
    back = Markup('<p class="tools"><a class="button" href="{}">The run</a></p>\n').format(entry.address)
    title = f"{entry.name}: user {cast.user}"
    body = back + Markup('<div class="beside">\n{}<div>{}{}</div>\n</div>\n').format(player, chart, listed)
    return frame(title, body, scripts=("vega.js", "plots.js", "screen.js", "player.js"), styles=("screen.css",))
