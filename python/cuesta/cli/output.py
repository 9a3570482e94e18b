"""Writes results, as text and as JSON, and checks before a run that the file of `--json` can be written."""

import json
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from cuesta.errors import CuestaError, UsageError
from cuesta.json_text import json_file_text
from cuesta.private_files import write_private
from cuesta.terminal import inform, write

if TYPE_CHECKING:
    from cuesta.workflow.run_result import Run

EVIDENCE = ("run.json", "record.json", "certification.json", "timeline.json", "agent.json")
"""Files of run folders and certifications, never overwritten although `--json` writes JSON of the same form."""


def check_json(where: str | None, flag: str = "--json") -> None:
    """Raise before a run the error that writing to `where` would raise after it."""
    if where in (None, "-"):
        return
    path = Path(str(where))
    if path.is_file() and not is_own(path):
        remedy = f"give a new file, such as {flag} {free_name(path)}"
        to_print = f", or {flag} - to print it" if flag == "--json" else ""
        raise UsageError(f"{flag} {path}: the file exists, and cuesta did not write it as JSON", remedy + to_print)
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CuestaError(
            f"{path}: cannot write there", f"give a file in a folder that exists and can be written: {flag} FILE"
        )


def is_own(path: Path) -> bool:
    """Whether a file may be overwritten: JSON that `--json` wrote, and no part of a record."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.name in EVIDENCE or not text:
            return not text
        first = json.loads(text if text.startswith("{\n") else text.partition("\n")[0])
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and text in (json_file_text(first), *_rows_from(first, text))


def _rows_from(first: object, text: str) -> list[str]:
    """The whole text if it is rows of meter reports by `cuesta meters --json`, `first` being the first of them."""
    is_report = isinstance(first, dict) and {"at", "wall", "subject"} <= first.keys()
    return [text] if is_report and text.startswith(json.dumps(first) + "\n") else []


def free_name(path: Path) -> str:
    """A name in the same folder that no file has yet."""
    names = (path.with_name(f"{path.stem}{number}.json") for number in ("", *(f"-{each}" for each in range(2, 1000))))
    return str(next((name for name in names if not name.exists()), path.with_suffix(".new.json")))


def write_json(where: str | None, value: object) -> None:
    """Write one object to a file, or to standard output if `where` is `-`."""
    text = json_file_text(value)
    if where == "-":
        is_utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
        _print(text.removesuffix("\n") if is_utf8 else json.dumps(value, indent=1), sys.stdout)
    elif where:
        try:
            write_private(Path(where), text)
        except OSError as error:
            raise CuestaError(f"{where}: cannot write: {error.strerror}") from None


def show_run(run: "Run", verbose: bool, json_where: str | None) -> None:
    """Tell what failed and what could not be written, print the summary of a run, and write its JSON.

    The summary ends with the answer, which stays on the screen above the prompt.
    """
    for sentence in (*run.notes, *run.failures):
        inform(f"cuesta: {sentence}")
    if run.unwritten:
        inform(f"cuesta: not written: {'; '.join(run.unwritten)}")
        inform(f"  the records are in {run.folder}; make room, then: cuesta report {shlex.quote(str(run.folder))}")
    say(run.text(verbose=verbose, colour=None), json_where)
    write_json(json_where, run.json())


def say(text: str, json_where: str | None) -> None:
    """Print a result for people, on standard error if `--json -` claims standard output."""
    _print(text, sys.stderr if json_where == "-" else sys.stdout)


def _print(text: str, stream: TextIO) -> None:
    """Print and flush. If the reader has left (`| head`), drop the rest, so that later files are still written."""
    try:
        write(text, stream)
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
