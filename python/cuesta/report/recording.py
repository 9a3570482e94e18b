"""Lists the entries of a recorded session that are hidden, and those that its files hold."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from cuesta.units import many

MOST = 50
"""The most rows of each list that are printed; the rest is counted."""


def describe_secrets(secrets: dict[str, Any]) -> list[str]:
    """Rows for the result of `_native.Cast.secrets`, which does not contain the hidden entries themselves."""
    shown = secrets["shown"]
    hidden = [f"{_hidden(each)} -> ${{{each['column']}}}" for each in secrets["hidden"]]
    commands = [f"{_place(each['place'])}: {_write_keys(each['keys'])}" for each in secrets["commands"]]
    keys, places = many(shown["keys"], "key"), many(shown["entries"], "place")
    as_commands = "kept, although the screen did not show it: single keys that the program took as commands"
    rows = [
        *_list_rows("hidden, because the screen did not show it as it was typed; it is in no file:", hidden),
        *_list_rows(as_commands, commands),
        f"kept, because the screen showed it: {keys} in {places}",
    ]
    if hidden:
        rows.append("what was hidden by mistake: give it in the users' table, or record again with --keep-all")
    return rows


def describe_kept(secrets: dict[str, Any]) -> list[str]:
    """Rows for --keep-all: nothing is hidden, and these entries would have been."""
    hidden = [_hidden(each) for each in secrets["hidden"]]
    return _list_rows("kept in clear, because of --keep-all, although the screen did not show it:", hidden) or [
        "nothing had to be hidden"
    ]


def _list_rows(title: str, rows: Sequence[str]) -> list[str]:
    more = [f"  and {len(rows) - MOST} more"] if len(rows) > MOST else []
    return [title, *(f"  {row}" for row in rows[:MOST]), *more] if rows else []


def _hidden(hidden: dict[str, Any]) -> str:
    return f"{_place(hidden['place'])}: {many(hidden['keys'], 'key')}"


def _place(place: dict[str, Any]) -> str:
    behind = f', behind "{place["behind"]}"' if place["behind"] else ""
    return f"after {place['at']:.1f} s, in row {place['row']}{behind}"


def _write_keys(keys: str) -> str:
    pressed = ((key if key != " " else "Space", len(list(same))) for key, same in groupby(keys))
    return " ".join(key if count == 1 else f"{key} ({count} times)" for key, count in pressed)
