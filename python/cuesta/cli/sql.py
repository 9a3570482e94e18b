"""`cuesta ledger --sql` queries all runs and certifications; `--tables` lists the tables."""

import argparse
import csv
from io import StringIO
from pathlib import Path

from cuesta.cli.output import say, write_json
from cuesta.errors import CuestaError, Exit
from cuesta.ledger.database import Database, SqlResult, check_select
from cuesta.report import sql_result as report
from cuesta.terminal import inform, show
from cuesta.units import many
from cuesta.workflow.query_ledger import fill

PARQUET = b"PAR1"
"""How a Parquet file begins."""


def ask(places: list[Path], arguments: argparse.Namespace) -> int:
    """Print or write the rows of the query."""
    check_select(arguments.sql)
    _check_parquet(arguments.parquet)
    with Database.at(arguments.database) as database:
        fill(database, places)
        damaged = database.damaged()
        if arguments.parquet:
            show(f"{arguments.parquet}: {many(database.write(arguments.sql, arguments.parquet), 'row')}")
        else:
            _show(database.fetch(arguments.sql), arguments)
    for each in damaged:
        inform(f"read only in part: {each}")
    return Exit.GOOD


def _show(result: SqlResult, arguments: argparse.Namespace) -> None:
    if arguments.csv:
        rows = StringIO()
        csv.writer(rows, lineterminator="\n").writerows([result.columns, *result.rows])
        show(rows.getvalue(), end="")
    elif arguments.json != "-":
        say(report.text(result), arguments.json)
    write_json(arguments.json, report.data(result))


def _check_parquet(file: Path | None) -> None:
    """Raise CuestaError, before any folder is read, if the file cannot be written or is no Parquet file."""
    if file and file.exists() and not _is_parquet(file):
        raise CuestaError(f"{file}: exists, and is not a Parquet file", "delete it, or name another")
    if file and not file.absolute().parent.is_dir():
        raise CuestaError(f"{file}: cannot write there", "give a file in a folder that exists: --parquet FILE")


def _is_parquet(file: Path) -> bool:
    if not file.is_file():
        return False
    with file.open("rb") as opened:
        return opened.read(len(PARQUET)) == PARQUET


def tables(where: str | None) -> int:
    if where != "-":
        say(report.tables(), where)
    write_json(where, report.tables_data())
    return Exit.GOOD
