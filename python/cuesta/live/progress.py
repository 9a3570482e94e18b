"""Prints the progress of a run on standard error: redraws one row on a terminal, else prints a row every 5 s."""

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cuesta.live.about import About
from cuesta.live.steering import Steering
from cuesta.live.view import View, merge
from cuesta.records.observation import Observation
from cuesta.terminal import inform

if TYPE_CHECKING:
    from cuesta.live.terminal_view import TerminalView

PLAIN_EVERY = 5.0
"""Seconds between two rows if standard error is no terminal."""
LEAST_COLUMNS, LEAST_ROWS = 60, 15
"""The smallest terminal that has a live view."""
DUMB = ("dumb", "unknown")
"""Values of TERM of terminals that cannot redraw a row."""

Show = Callable[[View], None]


@dataclass(frozen=True, slots=True)
class Shown:
    """Where a run is shown."""

    look: Callable[[Observation], None]
    """Takes what is seen of the run."""
    tell: Callable[[str], None]
    """Takes a sentence on its progress."""
    watchers: "Sequence[TerminalView]" = ()
    """What of it costs CPU time that is worth recording."""


@contextmanager
def watch(about: About, steering: Steering, stop: threading.Event, *, quiet: bool, plain: bool) -> Iterator[Shown]:
    """Show a run on standard error during the block."""
    is_live = not (quiet or plain) and _can_redraw() and _is_large_enough()
    for sentence in () if is_live else about.tell_addresses():
        inform(sentence)
    if quiet:
        yield Shown(_ignore, _ignore)
    elif not _can_redraw():
        yield Shown(_observe_with(_print_rows()), inform)
    elif not is_live:
        from cuesta.live.redrawn_row import redraw_row  # noqa: PLC0415, it loads rich: only a terminal needs it

        with redraw_row() as show:
            yield Shown(_observe_with(show), inform)
    else:
        from cuesta.live.terminal_view import TerminalView  # noqa: PLC0415, as above

        view = TerminalView(about, steering, stop)
        try:
            yield Shown(view.look, view.tell, [view])
        finally:
            view.close()


def _can_redraw() -> bool:
    """Whether standard error is a terminal on which this program may write over what it has written."""
    if not sys.stderr.isatty() or os.environ.get("TERM") in DUMB:
        return False
    from cuesta.full_screen import is_in_foreground  # noqa: PLC0415, only a terminal needs it

    return is_in_foreground(sys.stderr)


def _is_large_enough() -> bool:
    """Whether a terminal can show the view, also its characters."""
    size = os.get_terminal_size(sys.stderr.fileno())
    is_unicode = sys.stderr.encoding.lower().replace("-", "") == "utf8"
    return is_unicode and size.columns >= LEAST_COLUMNS and size.lines >= LEAST_ROWS


def _ignore(_: object) -> None:
    """Show nothing."""


def _observe_with(show: Show) -> Callable[[Observation], None]:
    answered = 0

    def look(seen: Observation) -> None:
        nonlocal answered
        for answer in seen.answers[answered:]:
            inform(answer)
        answered = len(seen.answers)
        if view := merge(seen):
            show(view)

    return look


def _print_rows() -> Show:
    shown, known, phase = -PLAIN_EVERY, (False, False), ""

    def show(view: View) -> None:
        nonlocal shown, known, phase
        is_due = view.elapsed >= shown + PLAIN_EVERY or view.elapsed < shown
        # Users who begin to wait in vain are shown at once, and those who still do when measuring ends.
        now_known = view.is_stuck, view.is_stuck and view.stuck is not None
        if is_due or now_known > known or (view.is_stuck and view.phase != phase):
            shown = view.elapsed
            inform(str(view))
        known, phase = now_known, view.phase

    return show
