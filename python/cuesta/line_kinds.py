"""The kinds of lines: the table of `crates/cuesta-lines/src/kinds.rs`, where each column is explained."""

import json
import re
from typing import Literal, TypedDict
from urllib.parse import parse_qsl, urlsplit

from cuesta import _native
from cuesta.target import kind_of


class Kind(TypedDict):
    """A row of the table."""

    name: str
    syntax: str
    port: int | None
    starts_program: bool
    terminal: Literal["vt", "block"]
    can_echo: bool
    acknowledges: bool
    logs_in: bool
    last_phase: Literal["connect", "login", "session"]
    writable_by: str | None
    left_behind: str | None
    has_shell: bool
    only_connects: bool
    recordable: bool
    descriptors: int
    settings_mark: Literal["?", "#"]


KINDS: dict[str, Kind] = {kind["name"]: kind for kind in json.loads(_native.line_kinds())}
SYNTAX = ", ".join(f"`{kind['syntax']}`" for name, kind in KINDS.items() if "+" not in name)
SYNTAX += ", `ttyd+ws://HOST/PATH` and its kin (docs/web.md)"
OWN_PROGRAMS = tuple(name for name, kind in KINDS.items() if kind["starts_program"])
"""Kinds whose REST is a command: the driver starts a program for each line."""
WEB = tuple(name for name in KINDS if re.fullmatch(r"([\w-]+\+)?wss?", name))
"""Kinds of lines over WebSockets: in their targets `{column}` stands for a cell of the users' table."""


def is_target(text: str) -> bool:
    """Whether a text is a target, and no path."""
    return ":" in text and kind_of(text) in KINDS


def row_of(target: str) -> Kind:
    """The row of a target's kind of line."""
    return KINDS[kind_of(target)]


def port_of(target: str) -> int:
    """The port of a target; 0 if it has none."""
    return urlsplit(target).port or row_of(target)["port"] or 0


def without_settings(target: str) -> str:
    """A target as a sentence names it: without `?identity=…` and the like."""
    return _split_settings(target)[0]


def settings_of(target: str) -> dict[str, str]:
    """The settings of a target that it writes itself, `?baud=9600&parity=even`, by name."""
    return dict(parse_qsl(_split_settings(target)[1]))


def columns_of(target: str) -> list[str]:
    """The columns of the users' table that a target names, each once."""
    named = re.findall(r"\{([^}]*)\}", target) if kind_of(target) in WEB else []
    return list(dict.fromkeys(named))


def trusts_any_host(target: str) -> bool:
    """Whether a target's lines trust a host by TLS without checking its certificate."""
    return bool({"insecure", "verify=no"}.intersection(_split_settings(target)[1].split("&")))


def _split_settings(target: str) -> tuple[str, str]:
    """A target without its settings, and these. Commands have none."""
    if kind_of(target) in OWN_PROGRAMS:
        return target, ""
    kind = KINDS.get(kind_of(target))
    address, _, settings = target.partition(kind["settings_mark"] if kind else "?")
    return address, settings
