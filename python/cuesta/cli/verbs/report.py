"""`cuesta report`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Derives everything again from the recorded files. So it works on an old run, on one whose report is lost,
and on one that was killed: the page says how far that run got.

Without --markdown, --junit or --json it writes one page, which fetches nothing: its plots are in it, it
is light or dark as the reader's screen is, and it can be printed. docs/report.md explains its parts.

For a certification it writes the form; for several, CPU time by cause as in MPL-17, with a bar for each
system."""


EXAMPLES = """examples:
  cuesta report runs/interactive-2026-11-21-035828      the summary again, and report.html in that folder
  cuesta report runs/mr7 runs/mr8 --out releases.html   both side by side on one page
  cuesta report certified/mr7 certified/mr8             two certified systems: bars of CPU time by cause
  cuesta report runs/nightly --markdown >> $GITHUB_STEP_SUMMARY
  cuesta report runs/nightly --junit nightly.xml        a test case for validity, and one for each limit
  cuesta report runs/nightly --json - | jq .response.p99

Side by side, chance may explain a difference: `cuesta compare BASE NEW` tests whether it does.
It exits 0 even if runs are invalid or crossed limits; the report says so."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN", help="a run folder, or a certification's")
    where = "the page; by default report.html in the run folder, or in the current folder for several runs"
    parser.add_argument("--out", type=Path, metavar="FILE", help=where)
    parser.add_argument("--verbose", action="store_true", help="print the whole summary, not only its first screen")
    parser.add_argument("--markdown", action="store_true", help="print Markdown with tables, for pull requests")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, for continuous integration")
    parser.add_argument(
        "--json",
        metavar="FILE|-",
        help="write the summary as one object, in which steps count from 0; - = standard output",
    )
