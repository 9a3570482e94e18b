"""Asks once at the terminal for passphrases of key files. Agents receive them through a pipe; no file has them."""

import getpass
from collections.abc import Iterable

from cuesta import _native
from cuesta.errors import CuestaError

TRIES = 3

_given: dict[str, str] = {}
"""Passphrases by key file, in this process only."""


def given() -> dict[str, str]:
    """The passphrases so far, by key file."""
    return dict(_given)


def ask_for(locked: Iterable[str]) -> None:
    """Ask for the passphrase of each key file; an empty one leaves the key out. Raises CuestaError after TRIES."""
    for file in locked:
        if file not in _given:
            _ask_for(file)


def _ask_for(file: str) -> None:
    for _ in range(TRIES):
        passphrase = _answer(f"passphrase for {file} (empty: without this key): ")
        if not passphrase:
            return
        try:
            right = _native.ssh_unlock(file, passphrase)
        except _native.RunError as error:
            raise CuestaError(str(error)) from None
        if right:
            _given[file] = passphrase
            return
    raise CuestaError(f"{file}: {TRIES} wrong passphrases", "load the key into the agent with `ssh-add`")


def _answer(prompt: str) -> str:
    try:
        with open("/dev/tty", "r+b", buffering=0):  # getpass would read standard input where there is no terminal
            return getpass.getpass(prompt)
    except (OSError, EOFError):
        return ""
