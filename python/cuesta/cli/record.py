"""`cuesta record`: makes a tape of a person's session, and a cast with which to watch it."""

import argparse
import getpass
import json
import os
import re
import shlex
import signal
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import FrameType

from cuesta import _native
from cuesta.cli.interrupts import handle_signals
from cuesta.cli.questions import ask, warn
from cuesta.engine.ssh import prepare_ssh
from cuesta.engine.tapes import notes_on, read_cast
from cuesta.errors import CuestaError, Exit, InputError, UsageError
from cuesta.line_kinds import row_of
from cuesta.private_files import write_private
from cuesta.target import kind_of, without_passwords
from cuesta.terminal import inform, show
from cuesta.workflow.loop_tape import LOGOUT, loop_tape
from cuesta.workflow.web_pages import refuse_page

LOOK_EVERY = 0.1
"""Seconds between looks at the relay."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files that a recording writes."""

    tape: Path
    cast: Path | None
    """None with --from: then the cast exists already."""
    chosen: bool
    """Whether the user gave the name."""

    def refuse_others(self) -> None:
        """Raise UsageError if one of the files exists."""
        for path in (self.tape, self.cast):
            if path and path.exists():
                raise UsageError(f"{path}: exists already", "give another name, -o NAME, or overwrite it: --force")

    def without_secrets(self, cast: _native.Cast) -> "Files":
        """These files; or others, if their names contain a hidden entry and the user did not choose them."""
        if self.chosen or cast.redacted(self.tape.stem) == self.tape.stem:
            return self
        return _free_names("session", self.tape.parent, with_cast=self.cast is not None)


def carry_out(arguments: argparse.Namespace) -> int:
    sources = [bool(arguments.command), arguments.target is not None, arguments.source is not None]
    if sum(sources) != 1:
        wrong = "one of COMMAND, --target and --from is enough" if any(sources) else "there is nothing to record"
        raise UsageError(f"cuesta record: {wrong}", "for example: cuesta record -- bash")
    if arguments.source:
        return _convert(arguments)
    return _record(arguments)


def _convert(arguments: argparse.Namespace) -> int:
    source: Path = arguments.source
    cast = read_cast(source, str(source))
    files = Files(Path(f"{arguments.out or source.with_suffix('')}.tape"), None, chosen=bool(arguments.out))
    if not arguments.keep_all:
        files = files.without_secrets(cast)
    if not arguments.force:
        files.refuse_others()
    notes = notes_on(cast)
    for note in notes:
        inform(f"cuesta: {source}: {note}")
    about = "\n".join([f"Made of {source.name}", *notes])
    try:
        tape = cast.tape(closed=True, about=about, keep_all=arguments.keep_all)
    except ValueError as error:
        raise InputError(f"{source}: {error}") from None
    tape = loop_tape(tape) if arguments.loop else tape
    write_private(files.tape, tape)
    show(f"{files.tape}: {_summary(tape)}\n{_describe_replay(tape)}")
    hidden = _say_what_is_hidden(cast, arguments.keep_all)
    if hidden and not arguments.keep_all:
        show(f"{source} itself still holds what is hidden here")
    return Exit.GOOD


def _record(arguments: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        remedy = "run it at a terminal; to make a tape of a cast: cuesta record --from FILE.cast"
        raise UsageError("cuesta record: there is no terminal here to type at", remedy)
    target = _target(arguments)
    if not row_of(target)["recordable"]:
        what = f"cuesta record: {target} carries no output of a video terminal, so that nothing can be watched"
        raise UsageError(what, "write the tape by hand (docs/tape.md)")
    files = _files(arguments, target)
    command = shlex.join(arguments.command) or target
    password = getpass.getpass(f"password for {target}: ") if arguments.ask_password else None
    if kind_of(target) == "ssh":
        prepare_ssh(target, [{"password": password}] if password else [], warn, ask)
    inform(f"cuesta: recording {command}; it ends with the program, or press Ctrl+] three times")
    cast, interrupted = _relay(target, command, password)
    inform(f"\ncuesta: recorded {cast.seconds:.0f} s")
    if not arguments.keep_all:
        files = files.without_secrets(cast)
    _write(cast, files, command, target, arguments)
    return Exit.INTERRUPTED if interrupted else Exit.GOOD


def _target(arguments: argparse.Namespace) -> str:
    refuse_page(arguments.target)
    text = arguments.target or f"pty:{shlex.join(arguments.command)}"
    try:
        target = _native.target(text)
    except ValueError as error:
        raise UsageError(f"--target: {without_passwords(str(error))}") from None
    if target.startswith("pipe:"):
        command = target.removeprefix("pipe:")
        remedy = f"record it on one, and play that tape here: cuesta record --target {shlex.quote(f'pty:{command}')}"
        raise UsageError(f"--target: {target} has no terminal: what you type would not be shown", remedy)
    return target


def _files(arguments: argparse.Namespace, target: str) -> Files:
    if arguments.out:
        stem = arguments.out.removesuffix(".tape").removesuffix(".cast")
        files = Files(Path(f"{stem}.tape"), Path(f"{stem}.cast"), chosen=True)
        if not arguments.force:
            files.refuse_others()
        return files
    word = Path(arguments.command[0]).name if arguments.command else re.split(r"[:/@?]+", target)[1]
    name = re.sub(r"[^\w.-]+", "-", word)[:40].strip("-.") or "session"
    if arguments.force:
        return Files(Path(f"{name}.tape"), Path(f"{name}.cast"), chosen=False)
    return _free_names(name, Path(), with_cast=True)


def _free_names(name: str, folder: Path, with_cast: bool) -> Files:
    """Names that no file has yet: NAME, NAME-2, NAME-3, …"""
    names = (folder / (name if number == 1 else f"{name}-{number}") for number in range(1, 1000))
    pairs = ((Path(f"{each}.tape"), Path(f"{each}.cast")) for each in names)
    tape, cast = next(pair for pair in pairs if not any(path.exists() for path in pair))
    return Files(tape, cast if with_cast else None, chosen=False)


def _relay(target: str, command: str, password: str | None) -> tuple[_native.Cast, bool]:
    """Relay keys and output until the session ends; returns the cast, and whether a signal ended the session."""
    terminal = os.environ.get("TERM") or "xterm-256color"
    try:
        relay = _native.Relay.start(target, terminal, command, password)
        with _stopping(relay) as signals:
            while not relay.wait(LOOK_EVERY):
                pass
        return relay.cast(), bool(signals)
    except _native.RunError as error:
        raise CuestaError(f"cannot record: {error}") from None


@contextmanager
def _stopping(relay: _native.Relay) -> Iterator[list[int]]:
    """The first signal ends the recording. The second restores the terminal and ends this process at once."""
    arrived: list[int] = []
    terminal_modes = termios.tcgetattr(sys.stdin)

    def handle(number: int, _frame: FrameType | None) -> None:
        if arrived:
            termios.tcsetattr(sys.stdin, termios.TCSANOW, terminal_modes)
            os._exit(Exit.INTERRUPTED)
        arrived.append(number)
        relay.stop()

    with handle_signals(handle, signal.SIGQUIT):
        yield arrived


def _write(cast: _native.Cast, files: Files, command: str, target: str, arguments: argparse.Namespace) -> None:
    assert files.cast is not None
    keep_all: bool = arguments.keep_all
    play = f"cuesta run {shlex.quote(str(files.tape))} --target {shlex.quote(target)}"
    write_private(files.cast, cast.written(keep_all))
    if not cast.has_input:
        raise CuestaError(f"nothing was typed, so there is no tape; {files.cast} has the output")
    when = f"{datetime.now():%Y-%m-%d %H:%M}"
    about = f"Recorded {when} by cuesta record: {_on_one_row(command)}\nPlay it: {_on_one_row(play)}"
    tape = cast.tape(closed=True, about=about, keep_all=keep_all)
    if arguments.loop:
        try:
            tape = loop_tape(tape)
        except InputError as error:  # the session cannot be repeated: write its tape without a loop
            inform(f"cuesta: {error}; the tape is written without a loop")
    write_private(files.tape, tape)
    show(f"{files.tape}: {_summary(tape)}")
    show(f"{files.cast}: the session as it was; asciinema play {files.cast}")
    _say_what_is_hidden(cast, keep_all)
    columns = ",".join(_native.Tape.parse(tape, "recorded.tape", ".").columns())
    data = f" --data USERS.csv   (whose first row is {columns})" if columns else ""
    show(_describe_replay(tape))
    if not arguments.loop and LOGOUT in tape:
        stay = f"{shlex.quote(str(files.cast))} --loop -o {shlex.quote(files.tape.stem + '-loop')}"
        show(f"for users who log in once and stay, with random think times: cuesta record --from {stay}")
    show(f"play it: {play} --users 10{data}")


def _say_what_is_hidden(cast: _native.Cast, keep_all: bool) -> bool:
    """Print which entries are hidden; returns whether any is."""
    from cuesta.report.recording import describe_kept, describe_secrets  # noqa: PLC0415  # pages are slow to import

    secrets = json.loads(cast.secrets())
    show("\n".join(describe_kept(secrets) if keep_all else describe_secrets(secrets)))
    return bool(secrets["hidden"])


def _describe_replay(tape: str) -> str:
    """One sentence: what users do who play the tape."""
    if "\nForever\n" in tape:
        return (
            "played, it makes each user do the part before Forever once, then repeat the rest with random think times"
        )
    where = "in a new session" if LOGOUT in tape else "in the same session"
    return (
        f"played, it makes each user do what you did, with exactly your think times, and then all of it again {where}"
    )


def _on_one_row(text: str) -> str:
    return "".join(" " if character in "\r\n\0" else character for character in text)


def _summary(tape: str) -> str:
    listing = _native.Tape.parse(tape, "recorded.tape", ".").listing()
    return listing.rsplit("# a pass: ", 1)[-1].splitlines()[0]
