"""One row on a terminal that is redrawn as the run goes on: a bar and the newest view."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Column

from cuesta.live.view import View
from cuesta.plain_text import plain


@contextmanager
def redraw_row() -> Iterator[Callable[[View], None]]:
    """Yields the function that shows a view; the row disappears at the end."""
    # A row that is too long goes on below itself: its end says what users wait for. Brackets on their screens are text.
    text = TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=False))
    console = Console(stderr=True)
    progress = Progress(BarColumn(bar_width=20), text, console=console, transient=True, refresh_per_second=4)
    task = progress.add_task("start", total=None)

    def show(view: View) -> None:
        progress.start()  # not before: until then the user may be asked something
        progress.update(task, total=view.total, completed=view.elapsed, description=plain(str(view)))

    try:
        yield show
    finally:
        progress.stop()
