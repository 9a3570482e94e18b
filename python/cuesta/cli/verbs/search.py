"""`cuesta search`: its help and its arguments."""

import argparse
from pathlib import Path

from cuesta.cli.verbs.setting_flags import add_output, add_settings

ABOUT = """Finds the largest number of users that meets an objective (--limit), or with an open load the largest rate of
arrivals: with a 90 % interval, and a number that repeated trials certify. It starts with the plan's number of
users, doubles it until the objective is missed, tries near the limit until the interval is narrow, and then
confirms its lower end. Users stay connected from one trial to the next. Each trial must be valid, or is
repeated; a limit of the driver is reported as such, never as the host's.

The folder is a run folder, a step for each trial: `cuesta report` and `cuesta predict` read it. A search that
was killed goes on with --resume."""


EXAMPLES = """examples:
  cuesta search --limit 'response.p95 < 2s'            the main job's tape at the built-in host
  cuesta search login.tape --target ssh://localhost --data users.csv --limit 'echo.p95 < 100ms' --budget 20m
  cuesta search plan.toml --users 50 --most 2000 --measure 60s
  cuesta search plan.toml --load open:5/s --limit 'response.p99 < 1s'      the largest rate
  cuesta search --resume runs/search-2026-11-23-120000
  cuesta search plan.toml --json - --quiet | jq .search

exit codes: 0 the limit was found, 92 it was not: the objective is missed at once or never, the driver could
            do no more, users were too few for a rate, or the budget ended before there was an interval,
            97 trials could not be trusted, 2 usage, 104 a bad plan or tape, 105 interrupted

docs/search.md explains the method, and how long a search takes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", metavar="TAPE|PLAN", help="as --tape, or a plan (a file that ends in .toml)")
    search = parser.add_argument_group("the search")
    search.add_argument(
        "--limit",
        action="append",
        dest="limits",
        metavar="EXPR",
        help="the objective, such as 'echo.p95 < 100ms'; several must all be met",
    )
    search.add_argument(
        "--most",
        metavar="N",
        help="the most users, or arrivals a second, to try; by default 2000 users, or 100,000/s",
    )
    search.add_argument(
        "--budget", metavar="D", help="end within this time, with what is known by then; --resume counts anew"
    )
    search.add_argument(
        "--rule",
        choices=("regression", "rfc9971"),
        help="how trials decide (default: regression)",
    )
    search.add_argument("--resume", type=Path, metavar="RUN", help="go on with the search in a folder, as it was begun")
    settings = parser.add_argument_group("what to run (each overrides the plan)")
    add_settings(settings, {"users": ("N", "how many users to begin with; groups share them in the plan's proportion")})
    add_output(parser, "the result as one object")
