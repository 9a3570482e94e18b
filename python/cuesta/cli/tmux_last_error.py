"""The error that ended the last agent of TMux on this machine. An agent in the background has no terminal for it."""

import contextlib
import os
from pathlib import Path

from cuesta.private_files import write_private


def keep_last_error(text: str) -> None:
    """Write it where `last_error` reads it; if that fails, it is lost."""
    with contextlib.suppress(OSError):
        _file().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_private(_file(), text + "\n")


def forget_last_error() -> None:
    """Delete it: an agent works again."""
    with contextlib.suppress(OSError):
        _file().unlink(missing_ok=True)


def last_error() -> str | None:
    """The error; none if the last agent was told to end, or was killed."""
    try:
        return _file().read_text(encoding="utf-8").strip()
    except OSError:
        return None


def _file() -> Path:
    """The file of errors. Each user has one for each network namespace; no other user can write to its folder."""
    runtime = "/run" if os.geteuid() == 0 else os.environ.get("XDG_RUNTIME_DIR", Path.home() / ".cache")
    return Path(runtime, "cuesta", f"tmux-{os.stat('/proc/self/ns/net').st_ino}.error")
