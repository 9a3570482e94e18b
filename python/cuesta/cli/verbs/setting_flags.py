"""The flags that `run` and `search` share: those that set what a plan says, and those of the output."""

import argparse
from pathlib import Path

from cuesta.cli.verbs.flags import SETTINGS

ENGINE = ("engine", "nodes")


def add_settings(group: argparse._ArgumentGroup, other: dict[str, tuple[str, str]]) -> None:
    """Add the flags of plan settings and of the built-in host; `other` replaces the text of some."""
    for name, (metavar, meaning) in {**SETTINGS, **other}.items():
        flag = f"--{name.replace('_', '-')}"
        if metavar.startswith("["):
            group.add_argument(flag, nargs="?", const="0", metavar=metavar[1:-1], help=meaning)
        elif metavar:
            group.add_argument(flag, metavar=metavar, help=meaning)
        else:
            group.add_argument(flag, action=argparse.BooleanOptionalAction, help=meaning)
    group.add_argument(
        "--secret",
        action="append",
        metavar="COLUMN",
        help="a column of --data that is never shown or recorded; those named like passwords are not anyway",
    )
    group.add_argument(
        "--host", action="append", metavar="KEY=VALUE", help="a setting of the built-in host, such as service=echo"
    )


def add_engine(group: argparse._ArgumentGroup) -> None:
    """Add the flags that say where the users are, for a verb without those of other settings."""
    for name in ENGINE:
        metavar, meaning = SETTINGS[name]
        group.add_argument(f"--{name}", metavar=metavar, help=meaning)


def add_output(parser: argparse.ArgumentParser, json_is: str) -> None:
    results = parser.add_argument_group("output")
    results.add_argument("--out", type=Path, metavar="DIR", help="the run folder; by default runs/NAME-DATE-TIME")
    results.add_argument("--json", metavar="FILE|-", help=f"write {json_is}; - = standard output")
    results.add_argument("--dry-run", action="store_true", help="show what would be done; contact nothing")
    results.add_argument("--verbose", action="store_true", help="print the whole summary, not only its first screen")
    add_progress(results)


def add_progress(group: argparse._ArgumentGroup) -> None:
    """Add the flags that say how a run is shown while it goes on, and to whom it is published."""
    group.add_argument("--plain", action="store_true", help="show progress in one row, without a live view")
    group.add_argument("--quiet", action="store_true", help="show no progress")
    group.add_argument(
        "--web", nargs="?", const="", metavar="ADDR", help="show it in a browser too; default: 127.0.0.1:8089"
    )
    group.add_argument(
        "--prometheus", nargs="?", const="", metavar="ADDR", help="let Prometheus scrape it; default: 127.0.0.1:9464"
    )
    group.add_argument(
        "--otlp", action="store_true", help="send metrics to an OpenTelemetry collector, as OTEL_* variables say"
    )
    group.add_argument(
        "--json-lines", action="store_true", help="write a row of JSON for each second on standard output"
    )
