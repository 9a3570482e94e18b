"""`cuesta compare`: is the new system faster or slower than the base, as far as runs can tell."""

import argparse
import re
from pathlib import Path

from cuesta.analysis.compare.comparison import Comparison, Overall, Terms, compare
from cuesta.analysis.compare.metrics import HEADLINES
from cuesta.analysis.compare.sides import apart, in_pairs
from cuesta.cli import interleave, service
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, UsageError
from cuesta.plan.messages import near
from cuesta.report.comparison import data, text

NAME = "compare"
HELP = "compare runs: faster, slower, equivalent, or not enough to tell"
ABOUT = """Compares two sides over whole runs: BASE and NEW are each a run folder, or a folder with run folders right in
it (a certification, or any that you put together). Each headline figure gets the ratio NEW / BASE, an exact
95 % interval, and a verdict: faster, slower, equivalent, changed below margin, or inconclusive, with how many
more runs would decide. What counts as a change is more than the margin, 5 % unless you say otherwise.

One run a side can never tell: runs of the same system differ. An exact interval needs 4 + 4 runs, or 6 pairs; how
small a change so many find is said before the first and after the last. Best are pairs, made in turn:
--interleave runs both plans, A B B A …, and compares what came. A folder that it left can be compared again.

Unlike machines, drivers, tapes, populations, think laws, lines or methods are refused with the difference named;
what is told of the host may differ, for that is what is compared. Runs that are INVALID are left out."""
EXAMPLES = """examples:
  cuesta compare runs/release-8.2 runs/release-8.3
  cuesta compare base/ new/ --margin 3% --json - | jq .verdict
  cuesta compare --interleave old.toml new.toml --pairs 12 --out runs/old-new
  cuesta compare runs/old-new                          the same pairs again
  cuesta compare base/ new/ --despite 'the machine got more memory, which no figure shows'
  cuesta compare base/ new/ --despite 'new certifier' --compensation response.p95=0.97
  cuesta compare --profile service.profile runs/nightly   how far is the benchmark from the live service

exit codes: 0 no change beyond the margin, 90 changed, 91 inconclusive, 92 refused
            2 usage, 104 a folder, plan or profile that cannot be used, 105 interrupted
docs/compare.md says how verdicts come about, and how many runs find what."""

MARGIN = "5%"
"""Unless told otherwise."""
OF_A_PART = r"(response|echo)\{.+\}\.p95"
"""A figure of one class of transactions or of one group; whether the runs have it is seen when they are read."""
EXITS = {
    Overall.UNCHANGED: Exit.GOOD,
    Overall.CHANGED: Exit.CHANGED,
    Overall.INCONCLUSIVE: Exit.INCONCLUSIVE,
    Overall.REFUSED: Exit.REFUSED,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("folders", nargs="*", type=Path, metavar="BASE NEW", help="two sides, or a folder of pairs")
    terms = parser.add_argument_group("on which terms")
    terms.add_argument("--margin", metavar="PERCENT", help="the least change that matters; default 5%%")
    terms.add_argument("--step", metavar="N", help="of sweeps, which step; by default the last")
    terms.add_argument("--despite", metavar="REASON", help="compare what is unlike; the reason is printed")
    terms.add_argument(
        "--compensation",
        action="append",
        default=[],
        metavar="FIGURE=RATIO",
        help="of a method that changed: what NEW's figure is multiplied by, to be what BASE's method would show",
    )
    interleave.add_arguments(parser)
    parser.add_argument(
        "--profile", type=Path, metavar="FILE", help="hold one run against a service's profile (cuesta meters --record)"
    )
    parser.add_argument("--json", metavar="FILE|-", help="write the comparison as one object; - = standard output")


def carry_out(arguments: argparse.Namespace) -> int:
    """Compare."""
    check_json(arguments.json)
    step = _step(arguments.step)
    if arguments.profile:
        _insist_on_profile(arguments)
        return service.hold_against(arguments.profile, _folders(arguments, 1)[0], step, arguments.json)
    terms = _terms(arguments)
    if arguments.interleave:
        _folders(arguments, 0)
        with interleave.pairs(arguments, terms, step) as (folder, interrupted):
            code = _show(compare(*in_pairs(folder, step), terms, in_pairs=True), arguments.json)
            say(f"\nRUNS       {folder}", arguments.json)
        return Exit.INTERRUPTED if interrupted else code
    if arguments.pairs or arguments.out or arguments.quiet:
        raise UsageError("cuesta compare: --pairs, --out and --quiet are of --interleave", "leave them out")
    if len(arguments.folders) == 1:
        return _show(compare(*in_pairs(arguments.folders[0], step), terms, in_pairs=True), arguments.json)
    base, new = _folders(arguments, 2)
    return _show(compare(apart(base, step), apart(new, step), terms), arguments.json)


def _show(found: Comparison, where: str | None) -> int:
    say(text(found), where)
    write_json(where, data(found))
    return EXITS[found.overall]


def _folders(arguments: argparse.Namespace, wanted: int) -> list[Path]:
    folders: list[Path] = arguments.folders
    if len(folders) != wanted:
        what = {0: "no folders: it makes them", 1: "one run folder", 2: "two folders, BASE and NEW, or one of pairs"}
        raise UsageError(f"cuesta compare: expected {what[wanted]}, got {len(folders)}", "`cuesta compare --help`")
    return folders


def _insist_on_profile(arguments: argparse.Namespace) -> None:
    """Refuse flags that are of two sides."""
    others = ("margin", "despite", "compensation", "interleave", "pairs", "out", "quiet")
    if given := [f"--{name}" for name in others if getattr(arguments, name)]:
        remedy = "leave out the one or the other: cuesta compare --profile FILE RUN"
        raise UsageError(f"cuesta compare: {', '.join(given)}: not with --profile, which compares no sides", remedy)


def _terms(arguments: argparse.Namespace) -> Terms:
    despite: str | None = arguments.despite
    if despite is not None and not despite.strip():
        raise UsageError("cuesta compare: --despite: expected a reason", "it is printed in the result: say it in words")
    if arguments.compensation and not despite:
        remedy = "say what was changed: --despite REASON"
        raise UsageError("cuesta compare: --compensation is of a method that was changed", remedy)
    return Terms(_margin(arguments.margin or MARGIN), despite, dict(map(_compensation, arguments.compensation)))


def _margin(text: str) -> float:
    try:
        percent = float(text.removesuffix("%")) if text.endswith("%") else -1.0
    except ValueError:
        percent = -1.0
    if not 0 < percent < 100:
        raise UsageError(f"cuesta compare: --margin: expected a percentage, got {text!r}", "for example --margin 5%")
    return percent / 100


def _step(text: str | None) -> int | None:
    if text is not None and not (text.isdigit() and int(text) > 0):
        raise UsageError(f"cuesta compare: --step: expected a number from 1, got {text!r}")
    return None if text is None else int(text) - 1


def _compensation(text: str) -> tuple[str, float]:
    name, _, factor = text.rpartition("=")
    known = [metric.name for metrics in HEADLINES for metric in metrics]
    if name not in known and not re.fullmatch(OF_A_PART, name):
        raise UsageError(f"cuesta compare: --compensation: no such figure: {name!r}{near(name, known)}")
    try:
        ratio = float(factor)
    except ValueError:
        ratio = -1.0
    if not 0 < ratio < float("inf"):
        raise UsageError(f"cuesta compare: --compensation: expected {name}=RATIO, got {text!r}", f"as {name}=0.97")
    return name, ratio
