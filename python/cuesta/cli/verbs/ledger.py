"""`cuesta ledger`: its help and its arguments."""

import argparse
from contextlib import suppress
from pathlib import Path

ABOUT = """Lists the certified systems below some folders by date, each with its elapsed time in percent of a
reference. Below a dotted line it projects planned improvements of the last one (goals.toml): mean, lowest
and highest elapsed time, and the chance to meet the goal. Once a release with an improvement is measured,
the difference from its projection is shown, and the rest is projected from there.

--sql queries every run and certification below the folders: they become tables of DuckDB, in memory, made
anew for each query. --tables lists them. A query only reads: it can neither write files nor read others.
A column `step` counts from 0: it is 0 in what reports call step 1.

--check computes what must agree within tables typed from documents (TOML with [[identity]]): the value as
printed, the value computed, and whether a correction typed beside it is right. Nothing is rewritten."""


EXAMPLES = """examples:
  cuesta ledger                                       all below this folder, and its goals.toml
  cuesta ledger certified/ goals.toml --base "23.3"   in percent of that system
  cuesta ledger studies/benchmark/1974.toml           the goals of 1974, computed again
  cuesta ledger --check studies/certification/published.toml
  cuesta ledger runs/ --sql 'select name, users, response_p95 from runs join steps using (folder) order by 3'
  cuesta ledger --sql 'from certifications' --csv     comma-separated, to standard output
  cuesta ledger --sql 'from meters' --parquet meters.parquet
  cuesta ledger --tables                              tables and columns

exit codes: 0 good, 1 a checked table is inconsistent, 2 usage, 104 a file that cannot be used

docs/ledger.md says what each column is."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "what",
        nargs="*",
        type=Path,
        metavar="FOLDER|FILE",
        help="folders to search, and files of goals; by default the current folder",
    )
    parser.add_argument("--base", metavar="SYSTEM", help="the system that is 100 %%; by default the first")
    parser.add_argument("--goal", type=_time, metavar="TIME", help="elapsed time to be reached, in the ledger's unit")
    parser.add_argument("--check", action="store_true", help="check whether typed tables are consistent")
    asking = parser.add_argument_group("SQL")
    asking.add_argument("--sql", metavar="SELECT", help="one query of all runs and certifications")
    asking.add_argument("--tables", action="store_true", help="list the tables and their columns")
    asking.add_argument("--csv", action="store_true", help="print the result comma-separated")
    asking.add_argument("--parquet", type=Path, metavar="FILE", help="write the result as a Parquet file")
    asking.add_argument(
        "--database", type=Path, metavar="FILE", help="keep the tables there, and read only what changed since"
    )
    parser.add_argument("--json", metavar="FILE|-", help="write the result as data; - = standard output")


def _time(text: str) -> float:
    with suppress(ValueError):
        if 0 < (time := float(text)) < float("inf"):
            return time
    raise argparse.ArgumentTypeError(f"expected a time of more than 0, without a unit, got {text!r}")
