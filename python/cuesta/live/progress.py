"""Prints the progress of a run on standard error: redraws one row on a terminal, else prints a row every 5 s."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cuesta.live.view import View, merge
from cuesta.records.observation import Observation
from cuesta.terminal import inform

PLAIN_EVERY = 5.0
"""Seconds between two rows if standard error is no terminal."""
DUMB = ("dumb", "unknown")
"""Values of TERM of terminals that cannot redraw a row."""

Show = Callable[[View], None]
Look = Callable[[Observation], None]
"""Takes what is seen of a run."""


@contextmanager
def watch(quiet: bool) -> Iterator[Look]:
    """Yields the function that shows what is seen."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty() and os.environ.get("TERM") not in DUMB:
        from cuesta.live.redrawn_row import redraw_row  # noqa: PLC0415, it loads rich: only a terminal needs it

        with redraw_row() as show:
            yield _observe_with(show)
    else:
        yield _observe_with(_print_rows())


def _observe_with(show: Show) -> Look:
    def look(seen: Observation) -> None:
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
