"""The kinds of lines: the table of `crates/cuesta-lines/src/target.rs`."""

import json
from typing import TypedDict
from urllib.parse import urlsplit

from cuesta import _native
from cuesta.target import kind_of


class Kind(TypedDict):
    """A row of the table."""

    name: str
    syntax: str
    port: int | None
    starts_program: bool
    descriptors: int


KINDS: dict[str, Kind] = {kind["name"]: kind for kind in json.loads(_native.line_kinds())}
SYNTAX = ", ".join(f"`{kind['syntax']}`" for kind in KINDS.values())
OWN_PROGRAMS = tuple(name for name, kind in KINDS.items() if kind["starts_program"])
"""Kinds whose REST is a command: the driver starts a program for each line."""


def descriptors_of(target: str) -> int:
    """How many file descriptors the driver needs for a line to the target."""
    return KINDS[kind_of(target)]["descriptors"]


def port_of(target: str) -> int:
    """The port of a target; 0 if it has none."""
    return urlsplit(target).port or KINDS[kind_of(target)]["port"] or 0
