"""Watches and stops what a verb runs: progress on standard error, Ctrl-C, and passphrases from the terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.questions import ask, warn
from cuesta.engine.console import Console
from cuesta.terminal import inform
from cuesta.workflow.control import Control, ignore


@contextmanager
def control_run(quiet: bool) -> Iterator[Control]:
    """Show progress during the block, unless `quiet`; the first signal sets `stop`."""
    from cuesta.live import watch  # noqa: PLC0415, a dry run shows no progress

    with catch_interrupts() as stopping, watch(quiet) as look:
        yield Control(Console(look, stopping), ignore if quiet else inform, warn, ask)
