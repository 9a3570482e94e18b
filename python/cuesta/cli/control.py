"""Watches and stops what a verb runs: progress on standard error, Ctrl-C, and passphrases from the terminal."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager

from cuesta.cli.interrupts import catch_interrupts
from cuesta.terminal import inform
from cuesta.workflow.control import Control, ignore


@contextmanager
def control_run(quiet: bool) -> Iterator[Control]:
    """Show progress during the block, unless `quiet`; the first signal sets `stop`."""
    from cuesta.live import watch  # noqa: PLC0415, a dry run shows no progress

    with catch_interrupts() as stopping, watch(quiet) as look:
        yield Control(look, ignore if quiet else inform, warn, ask, stopping)


def warn(text: str) -> None:
    """Print what the user should know, also of a quiet run."""
    inform(f"cuesta: {text}")


def ask(prompt: str) -> str:
    """Ask for a passphrase at the terminal, without an echo; empty if there is no terminal."""
    try:
        with open("/dev/tty", "r+b", buffering=0):  # getpass would read standard input where there is no terminal
            return getpass.getpass(prompt)
    except (OSError, EOFError):
        return ""
