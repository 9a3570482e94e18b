"""Sessions that run at once (`sessions = 10`): some are typed at, the others stream.

A group that says so becomes two groups: its own, whose users play its tape, and one in the background, whose users play
what starts a stream and then only read. Driver, engine and reports know of two groups, as a plan may write them.
"""

import re
import shlex
from pathlib import PurePath
from typing import Any

from cuesta.errors import UsageError
from cuesta.line_kinds import without_settings
from cuesta.shipped_tapes import PREFIX, STREAM
from cuesta.target import BUILTIN_HOST, kind_of

STREAM_TAPE = f"{PREFIX}{STREAM}"
"""The tape of the others at a shell."""
SHELLS = re.compile(r"(ba|da|k|mk|z|fi)?sh|busybox")
OF_TYPISTS = ("sessions", "sessions_tape", "load", "align", "think", "key_rate", "key_law", "role", "nodes")
"""Settings that are not those of the others."""


def add_other_sessions(raw: dict[str, Any]) -> dict[str, Any]:
    """A raw plan with a group for the other sessions of each group that has some. Wrong values stay for the schema."""
    groups = raw.get("group")
    if not isinstance(groups, list) or not all(isinstance(group, dict) for group in groups):
        return raw
    several = len(groups) > 1
    return {**raw, "group": [each for group in groups for each in _split(group, several)]}


def _split(group: dict[str, Any], several: bool) -> list[dict[str, Any]]:
    sessions, users = (_number(group.get(name, 1)) for name in ("sessions", "users"))
    if "sessions" not in group or sessions is None or users is None:
        return [group]
    if sessions < users:
        what = f"sessions: {sessions} are fewer than the users, {users}"
        raise UsageError(what, "each user types in a session: count these too")
    tape = group.get("sessions_tape") or _stream_at(str(group.get("target", BUILTIN_HOST)), sessions - users)
    own = {name: value for name, value in group.items() if name not in OF_TYPISTS}
    name = f"{group.get('name', 'users')}-others" if several else "others"
    return [group, {**own, "name": name, "tape": tape, "users": sessions - users, "background": True}]


def _number(value: object) -> int | None:
    """A number as a plan, a flag or a keyword gives it; None if it is none."""
    text = str(value)
    return int(text) if text.isdigit() and not isinstance(value, bool) else None


def _stream_at(target: str, others: int) -> str:
    """The tape for sessions at a shell. Raises UsageError for other programs, whose streams start in unknown ways."""
    if is_shell(target) or not others:
        return STREAM_TAPE
    rows = ("Set Echo off", "Wait+Silence 2s", 'Type "write a long text" Enter', "Forever", "  Sleep 1m", "End")
    raise UsageError(
        f"{without_settings(target)}: what do its other sessions stream? Nothing says what starts it",
        "\n  ".join(
            [
                "begin with these rows in a file `stream.tape`:",
                *(f"  {row}" for row in rows),
                "then: --sessions-tape stream.tape",
            ]
        ),
    )


def is_shell(target: str) -> bool:
    """Whether what runs at a target is a shell: an account over ssh, or a shell on a terminal of this machine."""
    if kind_of(target) == "ssh":
        return True
    if kind_of(target) != "pty":
        return False
    try:
        words = shlex.split(target.partition(":")[2])
    except ValueError:
        return False
    program = next((word for word in words if not re.fullmatch(r"exec|env|\w+=.*", word, re.DOTALL)), "")
    return bool(SHELLS.fullmatch(PurePath(program).name))
