"""`cuesta meters`: its help and its arguments; each of its words, such as `report`, has help of its own."""

import argparse
from pathlib import Path

ABOUT = """Reads the kernel's meters, as sar does: a row every INTERVAL seconds, or a whole report of an interval.
An interval belongs to the caller that began it: `reset` begins one, `report` prints the report since then, and other
callers (other terminals, or other files given with --since) have their own.

It needs no privilege. Reports split CPU time by cause where sampling is allowed (root, CAP_PERFMON, or
kernel.perf_event_paranoid 0). What could not be read is printed as — with the reason, never as zero."""


EXAMPLES = """examples:
  cuesta meters 5                    a row every 5 s until Ctrl-C, then the average
  cuesta meters 1 60 --pid 4711      60 rows of a process and its descendants
  cuesta meters                      a report of the next 5 s
  cuesta meters reset                begin an interval ...
  cuesta meters report               ... and report it, any number of times (--reset and --report do the same)
  cuesta meters 1 --json             a report a second, one object a row (JSON lines)
  cuesta meters record service.profile 10m     what a live service asks of its host, for `cuesta compare --profile`
  cuesta meters --exact 10           a report of 10 s traced in the kernel: idle by kind, interrupts, page waits (root)
  cuesta meters profile 10 --pid N   where 10 s of its CPU time go, by function (ic_sample); --flame FILE draws it
  cuesta meters stream               for programs: what a JSON request on stdin asks for (docs/meters.md)
`cuesta meters report --help` and likewise reset, record, profile, stream have only the flags of each.

docs/meters.md says what each figure is and where it comes from."""

WORDS = {
    "report": (
        """\
Prints the report of your interval, which `cuesta meters reset` began. The interval goes on: a later report covers
it from the same beginning. It has no CPU time by cause, because nothing samples between two commands.""",
        """examples:
  cuesta meters report
  cuesta meters report --pid 4711
  cuesta meters report --since before.json --json report.json""",
    ),
    "reset": (
        """\
Begins an interval of yours: it saves what the kernel's counters say now. The counters themselves are not reset,
so callers do not disturb one another.""",
        """examples:
  cuesta meters reset
  cuesta meters reset --pid 4711
  cuesta meters reset --since before.json""",
    ),
    "record": (
        """\
Meters a live service for INTERVAL, 1m by default, and writes what it asks of its host to FILE. Ctrl-C ends the
interval early. `cuesta compare --profile FILE RUNS` says how far a benchmark is from that service.""",
        """examples:
  cuesta meters record service.profile 10m
  cuesta meters record service.profile 10m --cgroup /system.slice/postgresql.service""",
    ),
    "profile": (
        """\
Samples this machine for SECONDS, 10 by default, and shows where CPU time goes, by function and by module: the
largest first, until they cover the fraction.""",
        """examples:
  cuesta meters profile
  cuesta meters profile 30 --pid 4711 --flame flame.svg
  cuesta meters profile --fraction 0.99 --folded stacks.txt""",
    ),
    "stream": (
        """\
For programs: reads a JSON request from stdin, then writes one report after another as JSON lines until stdin ends.
A run meters a remote host this way, over ssh. docs/meters.md says what a request may have.""",
        """examples:
  echo '{"every": 1.0, "sampled": false}' | cuesta meters stream""",
    ),
}
"""What may stand in the place of an interval: its help, and its examples."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = ", ".join(WORDS)
    parser.add_argument(
        "interval", nargs="?", metavar="INTERVAL", help=f"seconds between rows, or 200ms, 1m; or a word: {words}"
    )
    parser.add_argument("count", nargs="?", metavar="COUNT", help="rows; without it until Ctrl-C")
    parser.add_argument("length", nargs="?", help=argparse.SUPPRESS)
    _add_subject(parser)
    interval = parser.add_argument_group("reports of an interval of your own")
    interval.add_argument("--report", action="store_true", help="print the report since your last --reset")
    interval.add_argument("--reset", action="store_true", help="begin an interval (after the report, if both)")
    _add_since(interval)
    _add_profile(parser.add_argument_group("a profile: cuesta meters profile [SECONDS]"))
    parser.add_argument("--record", type=Path, metavar="FILE", help="write a profile of the service over INTERVAL (1m)")
    _add_tiers(parser, "how; by default reports are sampled, rows are not")
    _add_json(parser)


def add_word_arguments(parser: argparse.ArgumentParser, word: str) -> None:
    """Add what belongs to one of `WORDS`, for its help."""
    if word == "record":
        parser.add_argument("file", metavar="FILE", help="where to write the profile of the service")
        parser.add_argument("interval", nargs="?", metavar="INTERVAL", help="how long to meter; default 1m")
    if word == "profile":
        parser.add_argument("seconds", nargs="?", metavar="SECONDS", help="how long to sample; default 10")
        _add_profile(parser)
    if word != "stream":
        _add_subject(parser, is_here=word == "profile")
    if word in ("report", "reset"):
        _add_since(parser)
    if word == "record":
        _add_tiers(parser, "how; by default it is sampled")
    if word == "report":
        parser.add_argument("--reset", action="store_true", help="then begin a new interval")
    if word in ("report", "profile"):
        _add_json(parser)


Arguments = argparse.ArgumentParser | argparse._ArgumentGroup


def _add_subject(parser: argparse.ArgumentParser, is_here: bool = False) -> None:
    subject = parser.add_argument_group("what is metered; by default the whole machine").add_mutually_exclusive_group()
    subject.add_argument("--pid", metavar="N", help="a process and its descendants")
    subject.add_argument("--cgroup", metavar="PATH", help="a control group and those below it")
    subject.add_argument("--cpus", metavar="LIST", help="all that runs on some CPUs, as 0-3,8")
    if is_here:
        return
    subject.add_argument("--from", dest="url", metavar="URL", help="another machine, by its node_exporter's metrics")
    if parser.prog == "cuesta meters":
        subject.add_argument(
            "--front-end", type=Path, metavar="RUN", help="the built-in host's front end in a run folder (tty_meters)"
        )


def _add_since(arguments: Arguments) -> None:
    arguments.add_argument(
        "--since",
        type=Path,
        metavar="FILE",
        help="the file with the beginning of the interval, instead of one per terminal",
    )


def _add_profile(arguments: Arguments) -> None:
    arguments.add_argument("--fraction", metavar="F", help="share of the busy samples to show; default 0.9")
    arguments.add_argument("--flame", type=Path, metavar="FILE", help="write a flame graph (SVG)")
    arguments.add_argument("--folded", type=Path, metavar="FILE", help="write the stacks as text, for other programs")


def _add_tiers(parser: argparse.ArgumentParser, title: str) -> None:
    tiers = parser.add_argument_group(title)
    tiers.add_argument("--plain", action="store_true", help="do not sample: no CPU time by cause")
    traced = tiers.add_mutually_exclusive_group()
    traced.add_argument(
        "--exact", action="store_true", help="trace the kernel (root): idle by kind, interrupts, page waits; reports"
    )
    traced.add_argument(
        "--calls",
        action="store_true",
        help="count and time system calls too, which slows each of them: for a short run; not sampled",
    )


def _add_json(arguments: Arguments) -> None:
    arguments.add_argument("--json", nargs="?", const="-", metavar="FILE|-", help="as data: rows become JSON lines")
