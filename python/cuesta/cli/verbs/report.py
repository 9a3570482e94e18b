"""`cuesta report`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Everything is derived again from what was recorded. So it works on a run of last year, on one whose report
was thrown away, and on one that was killed: it is read as far as it got, and the page says how far that is.

Without --markdown, --junit or --json it writes one page that needs nothing else: plots and all are in it, it fetches
nothing, it is light or dark as the reader's screen is, and it prints. What its parts mean is in docs/report.md.

Of certifications it writes the form, or of several the bars of MPL-17: CPU time by cause, a bar for each system."""


EXAMPLES = """examples:
  cuesta report runs/interactive-2026-11-21-035828      the summary again, and report.html in that folder
  cuesta report runs/mr7 runs/mr8 --out releases.html   both side by side on one page
  cuesta report certified/mr7 certified/mr8             two certified systems: bars of CPU time by cause
  cuesta report runs/nightly --markdown >> $GITHUB_STEP_SUMMARY
  cuesta report runs/nightly --junit nightly.xml        a test case for validity, and one for each limit
  cuesta report runs/nightly --json - | jq .response.p99

Side by side is no comparison: `cuesta compare BASE NEW` says what a difference is worth.
It exits 0 whatever the runs are like; whether they are valid and kept their limits is in what it writes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folders", nargs="+", type=Path, metavar="RUN", help="a run folder, or a certification's")
    where = "where the page goes; by default report.html in the run folder, of several runs in the current one"
    parser.add_argument("--out", type=Path, metavar="FILE", help=where)
    parser.add_argument("--verbose", action="store_true", help="print all of the summary, not its first screen")
    parser.add_argument("--markdown", action="store_true", help="print Markdown with tables, for pull requests")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML, for continuous integration")
    parser.add_argument("--json", metavar="FILE|-", help="write the summary as one object; - = standard output")
