"""Real programs that ask for secrets: for each the keys up to its prompt, the secret, and the keys to leave it."""

import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.person import Person

SHELL = ("bash", "--norc", "--noprofile")
CHECKOUT = Path(__file__).parents[1]
ASKS = ("env", f"PYTHONPATH={CHECKOUT}", sys.executable, "-m", "tests.asks")

Steps = Callable[[Person, str], None]


@dataclass(frozen=True)
class Place:
    """A program that asks for a secret."""

    command: tuple[str, ...]
    steps: Steps
    """Goes there, types the secret and leaves."""


def prompted(prompt: str, end: str = "\r") -> Steps:
    """Wait for a prompt, type the secret and end it."""

    def steps(person: Person, secret: str) -> None:
        person.sees(prompt)
        person.rests()
        person.types(secret + end, shown=False)

    return steps


def at_a_shell(command: str, prompt: str, end: str = "\r") -> Steps:
    """Type a command at a shell, the secret at its prompt, and leave the shell."""

    def steps(person: Person, secret: str) -> None:
        person.sees("$ ")
        person.types(command + "\r")
        person.sees("\n")
        person.sees(prompt)
        person.rests()
        person.types(secret + end, shown=False)
        person.sees("$ ")
        person.rests()
        person.types("exit\r")

    return steps


def twice(prompt: str, again: str) -> Steps:
    """Type the secret twice, because the program asks for it again."""

    def steps(person: Person, secret: str) -> None:
        prompted(prompt)(person, secret)
        prompted(again)(person, secret)

    return steps


def corrected(prompt: str) -> Steps:
    """Type half of the secret wrongly, erase that and type the rest."""

    def steps(person: Person, secret: str) -> None:
        person.sees(prompt)
        person.rests()
        half = len(secret) // 2
        person.types(secret[:half] + "xy\x7f\x7f" + secret[half:] + "\r", shown=False)

    return steps


def left(prompt: str) -> Steps:
    """Type the secret, and end the recording before Enter."""

    def steps(person: Person, secret: str) -> None:
        person.sees(prompt)
        person.rests()
        person.types(secret, shown=False)
        person.leaves()

    return steps


def vim_key(person: Person, secret: str) -> None:
    """Encrypt a file; vim shows stars."""
    person.sees("words")
    person.rests()
    person.types(":X\r", shown=False)
    twice("Enter encryption key:", "again:")(person, secret)
    person.rests()
    person.types(":q!\r", shown=False)


def vim_option(person: Person, secret: str) -> None:
    """Set the key as an option; vim shows it while it is typed."""
    person.sees("words")
    person.rests()
    person.types(f":set key={secret}\r", shown=False)
    person.rests()
    person.types(":q!\r", shown=False)


def vim_asks(person: Person, secret: str) -> None:
    """A vim script asks."""
    prompted("Kennwort:")(person, secret)
    person.rests()
    person.types(":q!\r", shown=False)


def emacs_asks(person: Person, secret: str) -> None:
    """An Emacs function asks."""
    prompted("Kennwort:")(person, secret)
    person.rests()
    person.types("\x18\x03", shown=False)


GETPASS = "import getpass; getpass.getpass('Kennwort: ')"
BOX = ("8", "40")

PLACES: dict[str, Place] = {
    "whiptail": Place(("whiptail", "--passwordbox", "Code", *BOX), prompted("Ok")),
    "whiptail-tab": Place(("whiptail", "--passwordbox", "Code", *BOX), prompted("Ok", "\t\r")),
    "dialog": Place(("dialog", "--passwordbox", "Code", *BOX), prompted("ancel")),
    "dialog-insecure": Place(("dialog", "--insecure", "--passwordbox", "Code", *BOX), prompted("ancel")),
    "vim-X": Place(("vim", "-n", "-i", "NONE", "notes"), vim_key),
    "vim-set-key": Place(("vim", "-n", "-i", "NONE", "notes"), vim_option),
    "vim-inputsecret": Place(("vim", "-n", "-i", "NONE", "-c", "call inputsecret('Kennwort: ')", "notes"), vim_asks),
    "emacs": Place(("emacs", "-nw", "-Q", "--eval", '(read-passwd "Kennwort: ")'), emacs_asks),
    "read-s": Place(SHELL, at_a_shell("read -s -p 'Code: ' x", "\rCode: ")),
    "read-s-interrupted": Place(SHELL, at_a_shell("read -s -p 'Code: ' x", "\rCode: ", "\x03")),
    "read-s-ended": Place(SHELL, at_a_shell("read -s -n 99 -d % -p 'Code: ' x", "\rCode: ", "%")),
    "stty-cat": Place(("sh", "-c", "stty -echo; echo Code:; exec cat >copy; :"), prompted("Code:", "\r\x04")),
    "stty-cat-interrupted": Place(("sh", "-c", "stty -echo; echo Code:; cat >/dev/null"), prompted("Code:", "\x03")),
    "getpass": Place((sys.executable, "-c", GETPASS), prompted("Kennwort: ")),
    "getpass-left": Place((sys.executable, "-c", GETPASS), left("Kennwort: ")),
    "openssl": Place(("openssl", "passwd", "-6", "-noverify"), prompted("Password: ")),
    "su": Place(("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "su"), prompted("Password: ")),
    "psql": Place(("psql", "-h", "127.0.0.1", "-p", "1", "-U", "nobody", "-W"), prompted("Password: ")),
    "ssh-keygen": Place(("ssh-keygen", "-q", "-t", "ed25519", "-f", "id"), twice("passphrase):", "again: ")),
    "tmux": Place(
        ("tmux", "-L", "{folder}", "-f", "/dev/null", "new", "bash -c 'read -s -p Code:\\  x'"), prompted("Code: ")
    ),
    "nothing": Place((*ASKS, "nothing"), prompted("Code: ")),
    "nothing-left": Place((*ASKS, "nothing", "Kennwort: "), left("Kennwort: ")),
    "star": Place((*ASKS, "star"), corrected("Code: ")),
    "blank": Place((*ASKS, "blank"), prompted("Code: ", "\x04")),
    "last": Place((*ASKS, "last"), prompted("Code: ")),
    "moment": Place((*ASKS, "moment"), prompted("Code: ")),
    "elsewhere": Place((*ASKS, "elsewhere"), prompted("Code: ", "\x1b")),
    "meter": Place((*ASKS, "meter"), prompted("Code: ")),
}


def command(place: Place, folder: Path) -> list[str]:
    """The command of a place, run in a folder of its own."""
    return [part.format(folder=shlex.quote(folder.name)) if "{folder}" in part else part for part in place.command]


def left_at_a_shell(command: str, prompt: str) -> Steps:
    """Type a command at a shell and the secret at its prompt, and end the recording there."""

    def steps(person: Person, secret: str) -> None:
        person.sees("$ ")
        person.types(command + "\r")
        left(prompt)(person, secret)

    return steps


FAR: dict[str, Steps] = {
    "entered": at_a_shell("read -s -p 'Code: ' x", "\rCode: "),
    "interrupted": at_a_shell("read -s -p 'Code: ' x", "\rCode: ", "\x03"),
    "ended": at_a_shell("read -s -p 'Kennwort: ' x", "\rKennwort: ", "\x04\x04"),
    "left": left_at_a_shell("read -s -p 'Kennwort: ' x", "\rKennwort: "),
    "whiptail": at_a_shell("whiptail --passwordbox Code 8 40 2>/dev/null", "Ok"),
}
"""At a shell on another machine, whose terminal modes are not visible here."""
