"""Watches and steers what a verb runs: the live view or rows of progress, and passphrases from the terminal."""

import argparse
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from cuesta.cli.questions import ask, warn
from cuesta.engine.console import Console, Requests
from cuesta.plan import Settings
from cuesta.workflow.control import Control


@contextmanager
def control_run(
    arguments: argparse.Namespace, stop: threading.Event, title: str, settings: Settings | None = None
) -> Iterator[Control]:
    """Show what is run during the block, unless `--quiet`: on a terminal as a live view, unless `--plain`.

    `stop` ends what is run; the view sets it too. Results are printed after the block.
    """
    from cuesta.live import About, LiveLimit, watch  # noqa: PLC0415, a dry run shows no progress

    requests = Requests()
    about = About(title, [LiveLimit(*each) for each in _list_limits(settings)] if settings else ())
    with watch(about, requests, stop, quiet=arguments.quiet, plain=arguments.plain) as view:
        yield Control(Console(view.look, stop, requests, view.watchers), view.tell, warn, ask)


def _list_limits(settings: Settings) -> Iterator[tuple[str, str, float]]:
    """The limits of a plan: text, figure and value. Without a figure those that only the end tells."""
    for limit in settings.limits:
        figure, is_upper = limit.figure, limit.comparison in ("<", "<=")
        is_seen = is_upper and figure.transaction is None and figure.statistic
        yield limit.text, f"{figure.metric}.{figure.statistic}" if is_seen else "", limit.value
