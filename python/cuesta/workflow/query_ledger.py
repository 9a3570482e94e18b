"""Queries the ledger: folders → rows of its tables → the rows of one SELECT, as Arrow for other libraries."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from cuesta.analysis.sql_rows import rows_of_certification, rows_of_run
from cuesta.errors import UsageError
from cuesta.ledger.database import Database, check_select, connect, refuse_query
from cuesta.ledger.discover import discover, fingerprint
from cuesta.ledger.tables import TABLES
from cuesta.validation import suggest


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows of a query. Whatever reads Arrow takes them without a copy: `polars.DataFrame(frame)`."""

    relation: duckdb.DuckDBPyRelation

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self.relation.columns

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as values of Python; None where nothing was measured. Raises UsageError if one cannot be made."""
        with refuse_query():
            return self.relation.fetchall()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream of Arrow record batches (Arrow's PyCapsule interface)."""
        with refuse_query():
            return self.relation.__arrow_c_stream__(requested_schema)


def query_ledger(sql: str, places: Sequence[Path]) -> Frame:
    """Select from the runs and certifications in folders, and below them. Raises UsageError for a wrong query."""
    check_select(sql)
    database = Database(connect(None))
    fill(database, places)
    return Frame(database.select(sql))


def frame_of_run(folder: Path, table: str) -> Frame:
    """A table of one run (`cuesta ledger --tables` lists them). Raises UsageError if there is no such table."""
    if table not in TABLES:
        raise UsageError(f"the ledger has no table `{table}`{suggest(table, TABLES)}")
    database = Database(connect(None))
    database.replace_rows(str(folder), "", rows_of_run(folder))
    return Frame(database.select(f"FROM {table}"))


def fill(database: Database, places: Sequence[Path]) -> None:
    """Read the folders that changed since the database was saved, or all of them if it was not."""
    folders = discover([place.absolute() for place in places])
    readers = dict.fromkeys(folders.runs, rows_of_run) | dict.fromkeys(folders.certifications, rows_of_certification)
    prints = {str(folder): fingerprint(folder) for folder in readers}
    for name in database.changed(prints):
        database.replace_rows(name, prints[name], readers[Path(name)](Path(name)))
