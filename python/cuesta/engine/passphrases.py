"""Passphrases of key files, each asked for once. Agents receive them through a pipe; no file has them."""

from collections.abc import Callable, Iterable

from cuesta import _native
from cuesta.errors import CuestaError

TRIES = 3

_given: dict[str, str] = {}
"""Passphrases by key file, in this process only."""


def given() -> dict[str, str]:
    """The passphrases so far, by key file."""
    return dict(_given)


def unlock(files: Iterable[str], ask: Callable[[str], str]) -> None:
    """Have `ask` give the passphrase of each key file; an empty one leaves the key out.

    Raises CuestaError after TRIES wrong ones.
    """
    for file in files:
        if file not in _given:
            _unlock(file, ask)


def _unlock(file: str, ask: Callable[[str], str]) -> None:
    for _ in range(TRIES):
        passphrase = ask(f"passphrase for {file} (empty: without this key): ")
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
