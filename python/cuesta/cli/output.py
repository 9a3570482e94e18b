"""Where `--json` goes, and what is said before anything is started that could make it fail."""

import json
import os
import sys
from pathlib import Path

from cuesta.errors import CuestaError


def check_json(where: str | None, flag: str = "--json") -> None:
    """Raise now what writing would raise later."""
    if where in (None, "-"):
        return
    path = Path(str(where))
    if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CuestaError(
            f"{path}: cannot write there", f"give a file in a folder that exists and can be written: {flag} FILE"
        )


def write_json(where: str | None, value: object) -> None:
    """Write one object to a file, or to standard output for `-`."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    if where == "-":
        print(text)
    elif where:
        try:
            Path(where).write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise CuestaError(f"{where}: cannot write: {error.strerror}") from None


def say(text: str, json_where: str | None) -> None:
    """Print a result for people: standard output belongs to JSON when `--json -` asks for it."""
    print(text, file=sys.stderr if json_where == "-" else sys.stdout)
