"""The plan, tape, flags and environment of a command line, as raw settings; and a flag that is a percentage."""

import argparse
import os
import sys
from pathlib import Path

from cuesta.cli.verbs.setting_flags import ENGINE
from cuesta.errors import UsageError
from cuesta.plan import RawOptions
from cuesta.plan.load import SETTINGS


def raw_options(arguments: argparse.Namespace) -> RawOptions:
    plan = Path(arguments.file) if arguments.file and arguments.file.endswith(".toml") else None
    tape = None if plan else arguments.file
    if tape and arguments.tape:
        raise UsageError(f"two tapes: {tape} and --tape {arguments.tape}", "give one of them")
    flags = {name: value for name in (*SETTINGS, "limits") if (value := getattr(arguments, name)) is not None}
    if arguments.secret:
        flags["secrets"] = {"columns": arguments.secret}
    if arguments.host:
        flags["host"] = dict(_assignment(text) for text in arguments.host)
    return RawOptions(plan, tape, flags, dict(os.environ), command=tuple(sys.argv))


def plan_options(plan: Path, arguments: argparse.Namespace) -> RawOptions:
    """A plan with the environment, and the flags that say where its users are."""
    return RawOptions(plan, flags=engine_flags(arguments), environment=dict(os.environ), command=tuple(sys.argv))


def engine_flags(arguments: argparse.Namespace) -> dict[str, object]:
    return {name: value for name in ENGINE if (value := getattr(arguments, name)) is not None}


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise UsageError(
            f"--host: expected KEY=VALUE, got {text!r}", "for example --host service=echo --host delay=5ms"
        )
    return key.strip(), value.strip()


def percentage(text: str, flag: str, example: str) -> float:
    """The share that a flag gives as a percentage between 0 and 100: `5%`. Raises UsageError."""
    number = text.removesuffix("%")
    if not text.endswith("%") or not number.replace(".", "", 1).isdigit() or not 0 < float(number) < 100:
        raise UsageError(f"{flag}: expected a percentage, got {text!r}", f"for example --margin {example}")
    return float(number) / 100
