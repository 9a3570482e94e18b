"""Takes the pictures of docs/ from real runs: `python -m tests.screenshots FOLDER [NAME…]`.

Each picture is a function in `PICTURES` that is given a browser and a folder to work in, and returns the PNG.
"""

import base64
import html
import sys
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pyte

from tests.browser import Browser, Tab, chromium, tab
from tests.watched_page import watched_run
from tests.watched_terminal import WatchedTerminal, watched

Picture = Callable[[Browser, Path], bytes]

FAINT, GREY = 2, 90
"""Attributes of characters (SGR): the emulator knows no faint ones."""
COLOURS = {
    "default": "#d8dee4",
    "brightblack": "#7d8590",
    "green": "#3fb950",
    "red": "#ff7b72",
    "brightblue": "#58a6ff",
}
PAGE = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: #0d1117; color: #d8dee4; width: max-content }}
pre {{ margin: 0; padding: 14px 18px; font: 15px/18px "DejaVu Sans Mono", monospace }}
</style><pre>{rows}</pre>"""


class ColouredScreen(pyte.Screen):
    """A screen whose faint characters are grey."""

    def select_graphic_rendition(self, *attributes: int, **private: Any) -> None:
        """Take attributes of the characters that follow."""
        super().select_graphic_rendition(*(GREY if each == FAINT else each for each in attributes), **private)


def take_terminal_view(browser: Browser, here: Path) -> bytes:
    """The terminal's view of the main job, once its sparklines are long."""
    limits = ("--limit", "response.p95 < 500ms", "--limit", "echo.p99 < 100ms")
    size = (120, 40)
    with watched(
        here, size, "run", "--measure", "3m", *limits, "--out", "run", screen=ColouredScreen(*size)
    ) as terminal:
        terminal.shows("measuring +1:0[5-9]")
        page = terminal_page(terminal)
        terminal.types("q")
        terminal.ends()
    return photograph(browser, here, page)


def terminal_page(terminal: WatchedTerminal) -> str:
    """A page that shows what a terminal shows."""
    screen = terminal.emulator
    rows = ([screen.buffer[row][column] for column in range(screen.columns)] for row in range(screen.lines))
    return PAGE.format(rows="\n".join("".join(map(_span, *_in_styles(row))) for row in rows))


def _in_styles(row: list[Any]) -> tuple[list[tuple[Any, ...]], list[str]]:
    groups = [(style, "".join(cell.data for cell in cells)) for style, cells in groupby(row, lambda cell: cell[1:])]
    return [style for style, _ in groups], [text for _, text in groups]


def _span(style: tuple[Any, ...], text: str) -> str:
    foreground, background, bold = style[:3]
    colours = f"color:{COLOURS.get(foreground, f'#{foreground}')};font-weight:{'bold' if bold else 'normal'}"
    behind = "" if background == "default" else f";background:{COLOURS.get(background, f'#{background}')}"
    return f'<span style="{colours}{behind}">{html.escape(text)}</span>'


def take_page(_: Browser, here: Path) -> bytes:
    """The page of people who write in Emacs, with the screen of one of them."""
    arguments = ("--tape", "emacs", "--target", "pty:emacs -nw -Q", "--users", "12", "--measure", "3m")
    with watched_run(here, *arguments, "--limit", "echo.p95 < 50ms") as run:
        run.page.open(run.base, 1100)
        run.page.wait_for("Number(document.documentElement.dataset.now) > 60", seconds=120)
        run.page.value("document.querySelector('#glimpses button').click()")
        run.page.wait_for("document.querySelector('#screens .rows')")
        return capture(run.page)


def photograph(browser: Browser, here: Path, page: str) -> bytes:
    """A picture of a page, as large as its content and at two points for each of its own."""
    (here / "page.html").write_text(page, encoding="utf-8")
    with tab(browser) as opened:
        opened.look(here / "page.html", 1400)
        return capture(opened)


def capture(opened: Tab) -> bytes:
    """A picture of all of a loaded page."""
    width, height = (opened.value(f"document.body.{side}") for side in ("scrollWidth", "scrollHeight"))
    area = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
    picture = opened.call("Page.captureScreenshot", format="png", clip=area, captureBeyondViewport=True)
    return base64.b64decode(picture["data"])


PICTURES: dict[str, Picture] = {"live.png": take_terminal_view, "live-page.png": take_page}
"""By file name."""


def main(folder: str, *names: str) -> None:
    """Take the pictures."""
    for name in names or PICTURES:
        with tempfile.TemporaryDirectory() as work, chromium(Path(work) / "profile") as browser:
            (Path(folder) / name).write_bytes(PICTURES[name](browser, Path(work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
