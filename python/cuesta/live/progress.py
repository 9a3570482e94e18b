"""Prints the progress of a run on standard error: redraws one row on a terminal, else prints a row every 5 s."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from cuesta.live.view import View, merge

PLAIN_EVERY = 5.0
"""Seconds between two rows if standard error is no terminal."""

Show = Callable[[View], None]
Look = Callable[[Sequence[Mapping[str, Any]]], None]
"""Takes the newest snapshots of all agents."""


@contextmanager
def watching(quiet: bool) -> Iterator[Look]:
    """Yields the function that shows the newest snapshots."""
    if quiet:
        yield lambda _: None
    elif sys.stderr.isatty():
        with _bar() as progress:
            yield _looking(_renewed(progress))
    else:
        yield _looking(_plain())


def _looking(show: Show) -> Look:
    def look(snapshots: Sequence[Mapping[str, Any]]) -> None:
        if view := merge(snapshots):
            show(view)

    return look


def _bar() -> Progress:
    # A row that is too long goes on below itself: its end says what users wait for.
    columns = (BarColumn(bar_width=20), TextColumn("{task.description}", table_column=Column(no_wrap=False)))
    return Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4)


def _renewed(progress: Progress) -> Show:
    task = progress.add_task("start", total=None)
    return lambda view: progress.update(task, total=view.total, completed=view.elapsed, description=str(view))


def _plain() -> Show:
    shown = -PLAIN_EVERY

    def show(view: View) -> None:
        nonlocal shown
        if view.elapsed >= shown + PLAIN_EVERY or view.elapsed < shown:
            shown = view.elapsed
            print(view, file=sys.stderr, flush=True)

    return show
