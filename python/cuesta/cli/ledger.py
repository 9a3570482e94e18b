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


def carry_out(arguments: argparse.Namespace) -> int:
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
    """Refuse flags that have no effect together."""
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
    """What speaks against a certification; empty if nothing does."""
    wrong = [*disagreements(opened, record), *unfit(opened.folder)] if opened.record else ["no record.json"]
    copy = [f"a copy of {copied}"] if copied else []
    return "; ".join([*copy, *(["NOT VERIFIED, see certify --verify"] if wrong else [])])


def _typed(place: Path) -> list[Path]:
    """List the typed tables in a file, or in a folder and below it. Raises InputError if there is none."""
    if place.is_dir():
        found = [file for file in sorted(place.rglob("*.toml")) if is_historical(file)]
    else:
        found = [place] if "identity" in read_toml(place) else []
    if not found:
        raise InputError(f"{place}: no table typed from a document", "it has [[identity]] in it: docs/ledger.md")
    return found


def _check(files: list[Path], where: str | None) -> int:
    """Check typed tables against themselves."""
    if not files:
        raise UsageError("cuesta ledger --check: which tables?", "cuesta ledger --check FILE.toml …")
    checked = [check(read_historical(file)) for place in files for file in _typed(place)]
    if where != "-":
        say("\n\n\n".join(identities.text(each) for each in checked), where)
    write_json(where, {"checked": [identities.data(each) for each in checked]})
    return Exit.FAILED if any(each.unexplained for each in checked) else Exit.GOOD
