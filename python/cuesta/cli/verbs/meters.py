"""`cuesta meters`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Reads the kernel's meters, as sar does: a row every INTERVAL seconds, or a whole sheet of an interval.
An interval belongs to who asked for it: `reset` begins one, `report` prints the sheet since then, and other
callers (other terminals, or other files given with --since) have their own.

It needs no privilege. Sheets split CPU time by cause where sampling is allowed (root, CAP_PERFMON, or
kernel.perf_event_paranoid 0). What could not be read is printed as — with the reason, never as zero."""


WORDS = ("reset", "report", "record", "profile", "stream")
"""What may stand in the place of an interval."""
EXAMPLES = """examples:
  cuesta meters 5                    a row every 5 s until Ctrl-C, then the average
  cuesta meters 1 60 --pid 4711      60 rows of a process and its descendants
  cuesta meters                      a sheet of the next 5 s
  cuesta meters reset                begin an interval ...
  cuesta meters report               ... and see what came since, as often as wanted (--reset, --report are the same)
  cuesta meters 1 --json             a sheet a second, one object a row (JSON lines)
  cuesta meters record service.profile 10m     what a live service asks of its host, for `cuesta compare --profile`
  cuesta meters --exact 10           a sheet of 10 s traced in the kernel: idle by kind, interrupts, page waits (root)
  cuesta meters profile 10 --pid N   where 10 s of its CPU time go, by function (ic_sample); --flame FILE draws it
  cuesta meters stream               for programs: what a JSON request on stdin asks for (docs/meters.md)

docs/meters.md says what each figure is and where it comes from."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    words = ", ".join(WORDS)
    parser.add_argument(
        "interval", nargs="?", metavar="INTERVAL", help=f"seconds between rows, or 200ms, 1m; or a word: {words}"
    )
    parser.add_argument("count", nargs="?", metavar="COUNT", help="rows; without it until Ctrl-C")
    parser.add_argument("length", nargs="?", help=argparse.SUPPRESS)
    subject = parser.add_argument_group("what is metered; by default the whole machine").add_mutually_exclusive_group()
    subject.add_argument("--pid", metavar="N", help="a process and its descendants")
    subject.add_argument("--cgroup", metavar="PATH", help="a control group and those below it")
    subject.add_argument("--cpus", metavar="LIST", help="all that runs on some CPUs, as 0-3,8")
    subject.add_argument("--from", dest="url", metavar="URL", help="another machine, by its node_exporter's metrics")
    subject.add_argument(
        "--front-end", type=Path, metavar="RUN", help="the built-in host's front end in a run folder (tty_meters)"
    )
    interval = parser.add_argument_group("sheets of an interval of your own")
    interval.add_argument("--report", action="store_true", help="print the sheet since your last --reset")
    interval.add_argument("--reset", action="store_true", help="begin an interval (after the report, if both)")
    interval.add_argument(
        "--since", type=Path, metavar="FILE", help="where the interval's beginning is kept, instead of one per terminal"
    )
    profile = parser.add_argument_group("a profile: cuesta meters profile [SECONDS]")
    profile.add_argument("--fraction", metavar="F", help="of the busy samples that are to be shown; default 0.9")
    profile.add_argument("--flame", type=Path, metavar="FILE", help="write a flame graph (SVG)")
    profile.add_argument("--folded", type=Path, metavar="FILE", help="write the stacks as text, for other programs")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="write what INTERVAL (1m) had: a profile of the service"
    )
    tiers = parser.add_argument_group("how; by default sheets are sampled, rows are not")
    tiers.add_argument("--plain", action="store_true", help="do not sample: no CPU time by cause")
    traced = tiers.add_mutually_exclusive_group()
    traced.add_argument(
        "--exact", action="store_true", help="trace the kernel (root): idle by kind, interrupts, page waits; sheets"
    )
    traced.add_argument(
        "--calls",
        action="store_true",
        help="count and time system calls too, which makes each of them dearer: for a short run; not sampled",
    )
    parser.add_argument("--json", nargs="?", const="-", metavar="FILE|-", help="as data: rows become JSON lines")
