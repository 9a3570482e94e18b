"""`cuesta meters`: its help, its words, and the help and the arguments of each word."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from cuesta.cli.parser import Parser

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
  cuesta meters report               ... and report it, any number of times
  cuesta meters 1 --json             a report a second, one object a row (JSON lines)
  cuesta meters record service.profile 10m     what a live service asks of its host, for `cuesta compare --profile`
  cuesta meters --exact 10           a report of 10 s traced in the kernel: idle by kind, interrupts, page waits (root)
  cuesta meters profile 10 --pid N   where 10 s of its CPU time go, by function (ic_sample); --flame FILE draws it
  cuesta meters stream               for programs: what a JSON request on stdin asks for (docs/meters.md)
Without a word, `rows` is meant. --report, --reset and --record FILE are the words report, reset and record FILE.
`cuesta meters rows --help` and likewise the other words show the flags of each.

docs/meters.md says what each figure is and where it comes from."""

WORDS = {
    "rows": (
        "print a row every INTERVAL, or a report of 5 s",
        """\
Prints a row every INTERVAL, and at the end the average over all of them. Without INTERVAL it prints a report of the
next 5 s, and with --exact or --calls a report of each INTERVAL. The word `rows` may be left out.""",
        """examples:
  cuesta meters 5
  cuesta meters 1 60 --pid 4711
  cuesta meters --exact 10
  cuesta meters 1 --from http://10.0.0.7:9100/metrics
  cuesta meters --front-end RUN""",
    ),
    "report": (
        "print the report of your interval",
        """\
Prints the report of your interval, which `cuesta meters reset` began. The interval goes on: a later report covers
it from the same beginning. It has no CPU time by cause, because nothing samples between two commands.""",
        """examples:
  cuesta meters report
  cuesta meters report --pid 4711
  cuesta meters report --since before.json --json report.json""",
    ),
    "reset": (
        "begin an interval of yours",
        """\
Begins an interval of yours: it saves what the kernel's counters say now. The counters themselves are not reset,
so callers do not disturb one another.""",
        """examples:
  cuesta meters reset
  cuesta meters reset --pid 4711
  cuesta meters reset --since before.json""",
    ),
    "record": (
        "write what a live service asks of its host, to compare with benchmarks",
        """\
Meters a live service for INTERVAL, 1m by default, and writes what it asks of its host to FILE. Ctrl-C ends the
interval early. `cuesta compare --profile FILE RUNS` says how far a benchmark is from that service.""",
        """examples:
  cuesta meters record service.profile 10m
  cuesta meters record service.profile 10m --cgroup /system.slice/postgresql.service""",
    ),
    "profile": (
        "show where CPU time goes, by function",
        """\
Samples this machine for SECONDS, 10 by default, and shows where CPU time goes, by function and by module: the
largest first, until they cover the fraction.""",
        """examples:
  cuesta meters profile
  cuesta meters profile 30 --pid 4711 --flame flame.svg
  cuesta meters profile --fraction 0.99 --folded stacks.txt""",
    ),
    "stream": (
        "for programs: write reports as a request on stdin asks",
        """\
For programs: reads a JSON request from stdin, then writes one report after another as JSON lines until stdin ends.
A run meters a remote host this way, over ssh. docs/meters.md says what a request may have.""",
        """examples:
  echo '{"every": 1.0, "sampled": false}' | cuesta meters stream""",
    ),
}
"""The words: the line of help, the help and the examples of each."""


def with_word(arguments: Sequence[str]) -> Sequence[str]:
    """Put the word first: `rows` if none is given, `report` in place of `--report` and likewise the others."""
    if arguments and arguments[0] in (*WORDS, "-h", "--help"):
        return arguments
    parser = argparse.ArgumentParser("cuesta meters", add_help=False, allow_abbrev=False)
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--reset", action="store_true")
    parser.add_argument("--record", metavar="FILE")
    flags, others = parser.parse_known_args(arguments)
    others = [*(["--reset"] if flags.reset and (flags.report or flags.record) else []), *others]
    if flags.record:
        return ["record", flags.record, *(["--report"] if flags.report else []), *others]
    if flags.report:
        return ["report", *others]
    return ["reset" if flags.reset else "rows", *others]


def add_arguments(parser: Parser) -> None:
    parser.usage = "cuesta meters [INTERVAL [COUNT]] [FLAG ...]\n       cuesta meters WORD [ARGUMENT ...]"
    rows, report, reset, record, profile, _stream = parser.add_words(WORDS)

    rows.add_argument("interval", nargs="?", metavar="INTERVAL", help="seconds between rows, or 200ms, 1m")
    rows.add_argument("count", nargs="?", metavar="COUNT", help="rows; without it until Ctrl-C")
    _add_subject(rows).add_argument(
        "--front-end", type=Path, metavar="RUN", help="the built-in host's front end in a run folder (tty_meters)"
    )
    _add_tiers(rows, "how; by default reports are sampled, rows are not")
    _add_json(rows, "as data: rows become JSON lines")

    _add_subject(report)
    _add_since(report)
    report.add_argument("--reset", action="store_true", help="then begin a new interval")
    _add_json(report)

    _add_subject(reset)
    _add_since(reset)

    record.add_argument("file", type=Path, metavar="FILE", help="where to write the profile of the service")
    record.add_argument("interval", nargs="?", default="1m", metavar="INTERVAL", help="how long to meter; default 1m")
    _add_subject(record)
    _add_tiers(record, "how; by default it is sampled")

    profile.add_argument("seconds", nargs="?", default="10", metavar="SECONDS", help="how long to sample; default 10")
    profile.add_argument(
        "--fraction", default="0.9", metavar="F", help="share of the busy samples to show; default 0.9"
    )
    profile.add_argument("--flame", type=Path, metavar="FILE", help="write a flame graph (SVG)")
    profile.add_argument("--folded", type=Path, metavar="FILE", help="write the stacks as text, for other programs")
    _add_subject(profile, may_be_url=False)
    _add_json(profile)


def _add_subject(word: Parser, may_be_url: bool = True) -> argparse._MutuallyExclusiveGroup:
    """Add flags of which one may name the subject, as the meters spell it: `pid:7`, or a URL."""
    flags: list[tuple[str, Callable[[str], str], str, str]] = [
        ("--pid", "pid:{}".format, "N", "a process and its descendants"),
        ("--cgroup", "cgroup:{}".format, "PATH", "a control group and those below it"),
        ("--cpus", "cpus:{}".format, "LIST", "all that runs on some CPUs, as 0-3,8"),
    ]
    if may_be_url:
        flags.append(("--from", _url, "URL", "another machine, by its node_exporter's metrics"))
    subject = word.add_argument_group("what is metered; by default the whole machine").add_mutually_exclusive_group()
    word.set_defaults(subject="machine")  # `default="machine"` of a flag would become `pid:machine`
    for flag, spell, metavar, meaning in flags:
        subject.add_argument(flag, dest="subject", type=spell, default=argparse.SUPPRESS, metavar=metavar, help=meaning)
    return subject


def _url(text: str) -> str:
    if "://" not in text:
        raise argparse.ArgumentTypeError(f"expected a URL such as http://host:9100/metrics, got {text!r}")
    return text


def _add_since(word: Parser) -> None:
    word.add_argument(
        "--since",
        type=Path,
        metavar="FILE",
        help="the file with the beginning of the interval, instead of one per terminal",
    )


def _add_tiers(word: Parser, title: str) -> None:
    tiers = word.add_argument_group(title)
    tiers.add_argument("--plain", action="store_true", help="do not sample: no CPU time by cause")
    traced = tiers.add_mutually_exclusive_group()
    traced.add_argument(
        "--exact",
        dest="traced",
        action="store_const",
        const="light",
        help="trace the kernel (root): idle by kind, interrupts, page waits; reports",
    )
    traced.add_argument(
        "--calls",
        dest="traced",
        action="store_const",
        const="full",
        help="count and time system calls too, which slows each of them: for a short run; not sampled",
    )


def _add_json(word: Parser, meaning: str = "as data") -> None:
    word.add_argument("--json", nargs="?", const="-", metavar="FILE|-", help=meaning)
