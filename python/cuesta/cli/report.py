"""`cuesta report`: a run, or several side by side, shown again from what lies in their folders."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit

if TYPE_CHECKING:
    from cuesta.analysis import Summary

NAME = "report"
HELP = "show a run, or several side by side: a page, Markdown, JUnit"
ABOUT = """Everything is derived again from what was recorded. So it works on a run of last year, on one whose report
was thrown away, and on one that was killed: it is read as far as it got, and the page says how far that is.

Without --markdown, --junit or --json it writes one page that needs nothing else: plots and all are in it, it fetches
nothing, it is light or dark as the reader's screen is, and it prints. What its parts mean is in docs/report.md."""
EXAMPLES = """examples:
  cuesta report runs/interactive-2026-11-21-035828      the summary again, and report.html in that folder
  cuesta report runs/mr7 runs/mr8 --out releases.html   both side by side on one page
  cuesta report runs/nightly --markdown >> $GITHUB_STEP_SUMMARY
  cuesta report runs/nightly --junit nightly.xml        a test case for validity, and one for each limit
  cuesta report runs/nightly --json - | jq .response.p99

Side by side is no comparison: `cuesta compare BASE NEW` says what a difference is worth.
It exits 0 whatever the runs are like; whether they are valid and kept their limits is in what it writes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run folder")
    where = "where the page goes; by default report.html in the run folder, of several runs in the current one"
    parser.add_argument("--out", type=Path, metavar="FILE", help=where)
    parser.add_argument("--markdown", action="store_true", help="print Markdown with tables, for pull requests")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, for continuous integration")
    parser.add_argument("--json", metavar="FILE|-", help="write the summary as one object; - = standard output")


def carry_out(arguments: argparse.Namespace) -> int:
    """Derive it and show it."""
    from cuesta import analysis, report  # noqa: PLC0415, late because plots are slow to load

    check_json(arguments.json)
    runs = dict(
        zip(report.names(arguments.runs), (analysis.summarise(folder) for folder in arguments.runs), strict=True)
    )
    if arguments.markdown:
        say(report.markdown(runs).rstrip("\n"), arguments.json)
    if arguments.junit:
        report.junit(runs, arguments.junit)
    write_json(arguments.json, _data(runs))
    if arguments.out or not (arguments.markdown or arguments.junit or arguments.json):
        _page(runs, arguments)
    return Exit.GOOD


def _page(runs: Mapping[str, "Summary"], arguments: argparse.Namespace) -> None:
    """Write the page, and say what is in it and where it is."""
    from cuesta import report  # noqa: PLC0415

    (first, *more), folder = runs.values(), arguments.runs[0]
    file = arguments.out or (Path("report.html") if more else folder / "report.html")
    report.html(runs, file)
    if arguments.markdown:
        return
    said = [] if more else [report.text(first), ""]
    said += [f"{'VALID' if run.valid else 'INVALID'}  {name}" for name, run in runs.items() if more]
    say("\n".join([*said, f"PAGE       {file}"]), arguments.json)


def _data(runs: Mapping[str, "Summary"]) -> dict[str, object]:
    """Give the object of `cuesta run --json`; of several runs, a list of them."""
    found = [run.json() for run in runs.values()]
    return found[0] if len(found) == 1 else {"runs": found}
