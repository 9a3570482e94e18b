"""`cuesta ledger`: all certified systems, what is hoped for, and questions about every run."""

import argparse
from pathlib import Path

from cuesta.analysis.certify.agreement import disagreements
from cuesta.analysis.certify.record import derive
from cuesta.analysis.history.identities import check
from cuesta.analysis.history.ledgers import CertifiedSystem, ledgers
from cuesta.analysis.sql_rows import why_unread
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, InputError, UsageError
from cuesta.ledger.certification import Certification, open_certification
from cuesta.ledger.discover import discover
from cuesta.ledger.goals import read_goals
from cuesta.ledger.historical import is_historical, read_historical, read_toml
from cuesta.ledger.record import Record
from cuesta.ledger.signature import unfit
from cuesta.report import identities
from cuesta.report import ledger as report

NAME = "ledger"
HELP = "list certified systems and goals; ask every run by SQL; check typed tables"
ABOUT = """Lists the certified systems below some folders in order of date, each with its elapsed time in percent of a
reference; below a dotted line what planned improvements would make of the last one (goals.toml): the mean, the ends,
and the chance to meet the goal. When a release that has an improvement was measured, the miss is shown and the rest is
projected anew from there.

--sql asks about every run and certification below the folders: they become tables of DuckDB, in memory, made anew for
each question. --tables lists them. Files are the truth: a question reads, and cannot write or leave the database.

--check computes what must agree within tables typed from documents (TOML with [[identity]]): the value as printed, the
value computed, and whether a reading that was typed beside it is right. Nothing is rewritten."""
EXAMPLES = """examples:
  cuesta ledger                                       all below this folder, and its goals.toml
  cuesta ledger certified/ goals.toml --base "23.3"   in percent of that system
  cuesta ledger studies/benchmark/1974.toml           the goals of 1974, reckoned anew
  cuesta ledger --check studies/certification/published.toml
  cuesta ledger runs/ --sql 'select name, users, response_p95 from runs join steps using (folder) order by 3'
  cuesta ledger --sql 'from certifications' --csv     comma-separated, to standard output
  cuesta ledger --sql 'from meters' --parquet meters.parquet
  cuesta ledger --tables                              tables and columns

exit codes: 0 good, 1 a checked table does not agree with itself, 2 usage, 104 a file that cannot be used
docs/ledger.md says what each column is."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb's arguments."""
    parser.add_argument(
        "what", nargs="*", type=Path, metavar="FOLDER|FILE", help="where to look; files of goals (default: here)"
    )
    parser.add_argument("--base", metavar="SYSTEM", help="the system that others are percent of (default: the first)")
    parser.add_argument("--goal", type=_time, metavar="TIME", help="elapsed time to be reached, in the ledger's unit")
    parser.add_argument("--check", action="store_true", help="hold typed tables against themselves")
    asking = parser.add_argument_group("questions")
    asking.add_argument("--sql", metavar="SELECT", help="one question about all runs and certifications")
    asking.add_argument("--tables", action="store_true", help="list the tables and their columns")
    asking.add_argument("--csv", action="store_true", help="the answer comma-separated, to standard output")
    asking.add_argument("--parquet", type=Path, metavar="FILE", help="the answer as a Parquet file")
    asking.add_argument(
        "--database", type=Path, metavar="FILE", help="keep the tables there, and read only what changed since"
    )
    parser.add_argument("--json", metavar="FILE|-", help="write it as data; - = standard output")


def _time(text: str) -> float:
    """Read an elapsed time."""
    time = float(text)
    if not 0 < time < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a time of more than 0, got {text}")
    return time


def carry_out(arguments: argparse.Namespace) -> int:
    """List, ask or check."""
    check_json(arguments.json)
    _insist_on_one(arguments)
    places = arguments.what or [Path()]
    if arguments.check:
        return _check(arguments.what, arguments.json)
    if arguments.tables or arguments.sql is not None:
        from cuesta.cli import sql  # noqa: PLC0415  it loads DuckDB, which nobody else needs

        return sql.tables(arguments.json) if arguments.tables else sql.ask(places, arguments)
    return _ledgers(places, arguments)


def _insist_on_one(arguments: argparse.Namespace) -> None:
    """Refuse flags that go with something else."""
    if sum([arguments.check, arguments.tables, arguments.sql is not None]) > 1:
        raise UsageError("cuesta ledger: --sql, --tables and --check are three things", "leave two of them out")
    if arguments.sql is None and (arguments.csv or arguments.parquet or arguments.database):
        raise UsageError(
            "cuesta ledger: --csv, --parquet and --database go with --sql", "for example: --sql 'from steps'"
        )
    if (arguments.check or arguments.tables or arguments.sql is not None) and (
        arguments.base is not None or arguments.goal is not None
    ):
        raise UsageError("cuesta ledger: --base and --goal are of the list of systems", "leave them out")
    if arguments.parquet and (arguments.csv or arguments.json):
        raise UsageError("cuesta ledger: --parquet goes without --csv and --json", "ask once for each")
    if arguments.csv and arguments.json == "-":
        raise UsageError("cuesta ledger: --csv and --json - both want standard output", "--json FILE")


def _ledgers(places: list[Path], arguments: argparse.Namespace) -> int:
    """Show the ledgers."""
    found = discover(places)
    certified, unread = list[CertifiedSystem](), list[str]()
    for folder in found.certifications:
        try:
            opened = open_certification(folder)
            record = derive(opened)
            copied = next((each.folder for each in certified if each.record.id == record.id), None)
            certified.append(CertifiedSystem(str(folder), record, _doubt(opened, record, copied)))
        except Exception as error:  # whatever is wrong with one folder, the others are listed
            unread.append(f"{folder}: {why_unread(error)}")
    made = list(ledgers([read_goals(file) for file in found.goals], certified, arguments.base, arguments.goal))
    if not made and not unread:
        raise InputError(
            f"{', '.join(map(str, places))}: there is no certification and no file of goals",
            "`cuesta certify PLAN` makes one; docs/ledger.md shows a file of goals",
        )
    if arguments.goal is not None and not found.goals:
        raise UsageError("cuesta ledger: --goal is of a file of goals, and there is none", "docs/ledger.md shows one")
    if arguments.base and not any(each.base and arguments.base in {each.base.name, each.base.folder} for each in made):
        raise InputError(f"no system is called {arguments.base}", "`cuesta ledger` without --base lists them")
    if arguments.json != "-":
        say("\n\n\n".join([*map(report.text, made), *(f"left out: {each}" for each in unread)]), arguments.json)
    write_json(arguments.json, {"ledgers": [report.data(each) for each in made], "left_out": unread})
    return Exit.GOOD


def _doubt(opened: Certification, record: Record, copied: str | None) -> str:
    """Say what speaks against a certification; empty if nothing does."""
    wrong = [*disagreements(opened, record), *unfit(opened.folder)] if opened.record else ["no record.json"]
    copy = [f"a copy of {copied}"] if copied else []
    return "; ".join([*copy, *(["NOT VERIFIED, see certify --verify"] if wrong else [])])


def _typed(place: Path) -> list[Path]:
    """Give the typed tables that a file, or a folder and those below it, holds. Raises InputError if there is none."""
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*.toml")) if is_historical(file)]
    else:
        found = [place] if "identity" in read_toml(place) else []
    if not found:
        raise InputError(f"{place}: no table typed from a document", "it has [[identity]] in it: docs/ledger.md")
    return found


def _check(files: list[Path], where: str | None) -> int:
    """Hold typed tables against themselves."""
    if not files:
        raise UsageError("cuesta ledger --check: which tables?", "cuesta ledger --check FILE.toml …")
    checked = [check(read_historical(file)) for place in files for file in _typed(place)]
    if where != "-":
        say("\n\n\n".join(identities.text(each) for each in checked), where)
    write_json(where, {"checked": [identities.data(each) for each in checked]})
    return Exit.FAILED if any(each.unexplained for each in checked) else Exit.GOOD
