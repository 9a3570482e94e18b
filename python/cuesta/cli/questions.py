"""Warns and asks the person at the terminal. Apart from `control`: `cuesta record` needs nothing of what runs need."""

import getpass

from cuesta.terminal import inform


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
