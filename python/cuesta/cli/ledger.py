"""`cuesta ledger`: lists certified systems and their goals, queries all runs, and checks historical tables."""

import argparse
from pathlib import Path

from cuesta.analysis.certify.agreement import list_disagreements
from cuesta.analysis.certify.record import derive_record
from cuesta.analysis.history.identities import check_document
from cuesta.analysis.history.ledgers import CertifiedSystem, build_ledgers
from cuesta.analysis.sql_rows import why_unread
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, InputError, UsageError
from cuesta.ledger.certification import Certification, open_certification
from cuesta.ledger.discover import discover
from cuesta.ledger.goals import read_goals
from cuesta.ledger.historical import is_historical, read_historical, read_toml
from cuesta.ledger.record import Record
from cuesta.ledger.signature import list_misfits
from cuesta.report import identities
from cuesta.report import ledger as report


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    _check_flags(arguments)
    places = arguments.what or [Path()]
    if arguments.check:
        return _check(arguments.what, arguments.json)
    if arguments.tables or arguments.sql is not None:
        from cuesta.cli import sql  # noqa: PLC0415  it loads DuckDB, which no other mode needs

        return sql.tables(arguments.json) if arguments.tables else sql.ask(places, arguments)
    return _ledgers(places, arguments)


def _check_flags(arguments: argparse.Namespace) -> None:
    """Raise UsageError for flags that cannot be combined."""
    if sum([arguments.check, arguments.tables, arguments.sql is not None]) > 1:
        raise UsageError("cuesta ledger: --sql, --tables and --check cannot be combined", "give one of them")
    if arguments.sql is None and (arguments.csv or arguments.parquet or arguments.database):
        raise UsageError(
            "cuesta ledger: --csv, --parquet and --database go with --sql", "for example: --sql 'from steps'"
        )
    if (arguments.check or arguments.tables or arguments.sql is not None) and (
        arguments.base is not None or arguments.goal is not None
    ):
        raise UsageError("cuesta ledger: --base and --goal apply only to the list of systems", "leave them out")
    if arguments.parquet and (arguments.csv or arguments.json):
        raise UsageError(
            "cuesta ledger: --parquet cannot be combined with --csv or --json", "run the query once for each"
        )
    if arguments.csv and arguments.json == "-":
        raise UsageError("cuesta ledger: --csv and --json - both want standard output", "--json FILE")


def _ledgers(places: list[Path], arguments: argparse.Namespace) -> int:
    folders = discover(places)
    systems, unread = list[CertifiedSystem](), list[str]()
    for folder in folders.certifications:
        try:
            certification = open_certification(folder)
            record = derive_record(certification)
            original = next((each.folder for each in systems if each.record.id == record.id), None)
            systems.append(CertifiedSystem(str(folder), record, _doubt(certification, record, original)))
        except Exception as error:  # whatever is wrong with one folder, list the others
            unread.append(f"{folder}: {why_unread(error)}")
    listed = list(build_ledgers([read_goals(file) for file in folders.goals], systems, arguments.base, arguments.goal))
    if not listed and not unread:
        raise InputError(
            f"{', '.join(map(str, places))}: there is no certification and no file of goals",
            "`cuesta certify PLAN` makes one; docs/ledger.md shows a file of goals; --sql asks about runs",
        )
    if arguments.goal is not None and not folders.goals:
        raise UsageError("cuesta ledger: --goal needs a file of goals, and there is none", "docs/ledger.md shows one")
    bases = (each.base for each in listed if each.base)
    if arguments.base and not any(arguments.base in {base.name, base.folder} for base in bases):
        raise InputError(f"no system is called {arguments.base}", "`cuesta ledger` without --base lists them")
    if arguments.json != "-":
        say("\n\n\n".join([*map(report.text, listed), *(f"left out: {each}" for each in unread)]), arguments.json)
    write_json(arguments.json, {"ledgers": [report.data(each) for each in listed], "left_out": unread})
    return Exit.GOOD


def _doubt(certification: Certification, record: Record, original: str | None) -> str:
    """Why a certification should not be trusted; empty if there is no reason."""
    wrong = ["no record.json"]
    if certification.record:
        wrong = [*list_disagreements(certification, record), *list_misfits(certification.folder)]
    copy = [f"a copy of {original}"] if original else []
    return "; ".join([*copy, *(["NOT VERIFIED, see certify --verify"] if wrong else [])])


def _typed_tables(place: Path) -> list[Path]:
    """List the typed tables in a file, or in a folder and below it. Raises InputError if there is none."""
    if place.is_dir():
        files = [file for file in sorted(place.rglob("*.toml")) if is_historical(file)]
    else:
        files = [place] if "identity" in read_toml(place) else []
    if not files:
        raise InputError(
            f"{place}: not a table typed from a document", "such a file contains [[identity]]: docs/ledger.md"
        )
    return files


def _check(files: list[Path], where: str | None) -> int:
    """Check that tables typed from documents satisfy their identities."""
    if not files:
        raise UsageError("cuesta ledger --check: expected files with typed tables", "cuesta ledger --check FILE.toml …")
    results = [check_document(read_historical(file)) for place in files for file in _typed_tables(place)]
    if where != "-":
        say("\n\n\n".join(identities.text(each) for each in results), where)
    write_json(where, {"checked": [identities.data(each) for each in results]})
    return Exit.FAILED if any(each.unexplained for each in results) else Exit.GOOD
