"""`cuesta compare`: its help and its arguments."""

import argparse
from pathlib import Path

from cuesta.cli.verbs.setting_flags import add_engine, add_progress

ABOUT = """Compares two versions of a program, given as targets: makes pairs of short runs, A B B A …, until it can
tell whether the new version is worse to type at by more than the margin, and says so in one sentence.

Or compares two sides over whole runs: BASE and NEW are each a run folder, or a folder with run folders right
in it (a certification, or any that you assemble). Each headline figure gets the ratio NEW / BASE, an
exact 95 % interval, and a verdict: faster, slower, equivalent, changed below margin, or inconclusive,
with how many more runs would decide. What counts as a change is more than the margin, 5 % unless you say
otherwise.

One run of each side can never tell: runs of the same system differ. An exact interval needs 4 + 4 runs, or 6
pairs; a claim among two or three figures, which --interleave judges together, needs 7 pairs. It says before
the first run and after the last how small a change the runs can detect. Pairs that are made in turn are best:
--interleave runs both plans, A B B A …, and compares the pairs. It says first how long that takes. The folder
that it leaves can be compared again.

Sides that differ in machine, driver, tape, number of users, think times, lines or method are refused, and
the difference is named. The host may differ, because it is what is compared. Runs that are INVALID are left
out."""


EXAMPLES = """examples:
  cuesta compare 'pty:./app-1.4 notes.txt' 'pty:./app-1.5 notes.txt'
  cuesta compare 'pty:./app notes.txt' --revisions main..HEAD --build make
  cuesta compare pty:./old pty:./new --tape edit.tape --margin 10% --budget 5m
  cuesta compare pty:vim --beside 'while :; do make clean; make -j8; done'   what a compile costs the typist
  cuesta compare pty:bash --sessions 10
  cuesta compare runs/release-8.2 runs/release-8.3
  cuesta compare base/ new/ --margin 3% --json - | jq .verdict
  cuesta compare --interleave old.toml new.toml --pairs 12 --out runs/old-new
  cuesta compare runs/old-new                          the same pairs again
  cuesta compare base/ new/ --despite 'the machine got more memory, which no figure shows'
  cuesta compare base/ new/ --despite 'new certifier' --compensation response.p95=0.97
  cuesta compare --profile service.profile runs/nightly   how far the benchmark is from the live service

exit codes: 0 no change beyond the margin, 90 changed, 91 inconclusive, 92 refused
            of two targets: 0 no worse, 90 worse, 91 cannot tell, 92 refused, 97 not valid
            2 usage, 104 a folder, plan or profile that cannot be used, 105 interrupted

docs/compare.md explains the verdicts, and how many runs detect how small a change."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sides = "two targets, such as 'pty:./app-1.4 notes.txt'; or two folders of runs, or a folder of pairs"
    parser.add_argument("folders", nargs="*", metavar="BASE NEW", help=sides)
    versions = parser.add_argument_group("two versions of a program, made in pairs until they tell")
    versions.add_argument("--tape", metavar="TAPE", help="what is typed; by default text, whose echo is timed")
    versions.add_argument("--budget", metavar="D", help="how long it may take; default 3m")
    what = "what is judged, such as echo.p95; may be repeated; default echo.p50, guarded by echo.p95"
    versions.add_argument("--figure", action="append", default=[], metavar="FIGURE", help=what)
    revisions = "two revisions of git to run one target in, each in a worktree: main..HEAD, main...HEAD"
    versions.add_argument("--revisions", metavar="A..B", help=revisions)
    versions.add_argument("--build", metavar="COMMAND", help="builds a revision in its worktree, such as make")
    markdown = "append the result as Markdown, for example to $GITHUB_STEP_SUMMARY; - = standard output"
    versions.add_argument("--markdown", type=Path, metavar="FILE", help=markdown)
    beside = "what a neighbour costs who types at one target: runs without and with this command, such as 'make -j8'"
    versions.add_argument("--beside", metavar="COMMAND", help=f"{beside}; at two targets both run beside it")
    sessions = "what other sessions cost: runs with one session and with N, of which all but one stream"
    versions.add_argument("--sessions", metavar="N", help=sessions)
    versions.add_argument("--sessions-tape", metavar="TAPE", help="what the other sessions play; docs/beside.md")
    versions.add_argument("--data", metavar="CSV", help="users, one a row, for ${column} in the tape")
    terms = parser.add_argument_group("terms of the comparison")
    margin = "the least change that matters; default 5%%; of two targets also 2ms, or 5%%,2ms: the larger of both"
    terms.add_argument("--margin", metavar="PERCENT", help=margin)
    terms.add_argument(
        "--step",
        metavar="N",
        help="the step of a sweep, from 1 as in reports (JSON and SQL count from 0); by default the last",
    )
    terms.add_argument("--despite", metavar="REASON", help="compare sides that differ; the reason is printed")
    terms.add_argument(
        "--compensation",
        action="append",
        default=[],
        metavar="FIGURE=RATIO",
        help="if the method changed: NEW's figure is multiplied by RATIO, to be what BASE's method would show",
    )
    pairs = parser.add_argument_group("runs in pairs")
    pairs.add_argument("--interleave", nargs=2, type=Path, metavar=("PLAN_A", "PLAN_B"), help="run both in turn: ABBA")
    more = "number of pairs; default 8, or more if the figures that are judged together need more"
    pairs.add_argument("--pairs", metavar="N", help=more)
    pairs.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder of the pairs; by default runs/compare-DATE-TIME"
    )
    add_progress(pairs)
    add_engine(parser.add_argument_group("where runs are made"))
    parser.add_argument(
        "--profile",
        type=Path,
        metavar="FILE",
        help="compare one run with the profile of a live service (cuesta meters record)",
    )
    parser.add_argument("--json", metavar="FILE|-", help="write the comparison as one object; - = standard output")
