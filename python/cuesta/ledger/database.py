"""The ledger's database: DuckDB tables, filled from run folders and certifications.

It is built in memory for each query. `--database FILE` saves it, so that only changed folders are read again; the file
can be deleted at any time. A query is one SELECT. It can read these tables only: DuckDB's access to disk and network is
switched off first.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from cuesta.errors import CuestaError, UsageError
from cuesta.ledger.tables import TABLES, SqlTable

FORMAT = 1
"""Format of the database file; a file of another format is built again."""

Rows = Mapping[str, list[dict[str, Any]]]
"""Rows by table."""


@dataclass(frozen=True, slots=True)
class SqlResult:
    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Database:
    connection: duckdb.DuckDBPyConnection

    @classmethod
    @contextmanager
    def at(cls, file: Path | None) -> Iterator["Database"]:
        """Open a database in memory or in a file; a file of another format is built again."""
        connection = connect(file)
        try:
            yield cls(connection)
        finally:
            connection.close()

    def changed(self, folders: Mapping[str, str]) -> list[str]:
        """Folders that are new or whose fingerprint changed. Rows of folders that are gone are deleted."""
        known = dict(self.connection.execute("SELECT folder, fingerprint FROM sources").fetchall())
        for gone in known.keys() - folders.keys():
            self.forget(gone)
        return [folder for folder, fingerprint in folders.items() if known.get(folder) != fingerprint]

    def replace_rows(self, folder: str, fingerprint: str, rows: Rows) -> None:
        """Replace the rows of a folder."""
        self.forget(folder)
        for name, each in rows.items():
            insert(self.connection, name, each)
        self.connection.execute("INSERT INTO sources VALUES (?, ?)", [folder, fingerprint])

    def forget(self, folder: str) -> None:
        for name in [*TABLES, "sources"]:
            self.connection.execute(f"DELETE FROM {name} WHERE folder = ?", [folder])

    def damaged(self) -> list[str]:
        """Which folders could not be read to their end, and why."""
        rows = self.connection.execute(
            "SELECT folder, damage FROM runs WHERE damage <> '' UNION ALL "
            "SELECT folder, damage FROM certifications WHERE damage <> '' ORDER BY folder"
        ).fetchall()
        return [f"{folder}: {'; '.join(damage.splitlines())}" for folder, damage in rows]

    def fetch(self, sql: str) -> SqlResult:
        """The rows of one SELECT."""
        with self.restricted(sql, None):
            cursor = self.connection.execute(sql)
            return SqlResult([each[0] for each in cursor.description or []], cursor.fetchall())

    def select(self, sql: str) -> duckdb.DuckDBPyRelation:
        """One SELECT as a relation, which runs when its rows are read."""
        with self.restricted(sql, None):
            return self.connection.sql(sql)

    def write(self, sql: str, file: Path) -> int:
        """Write the result of one SELECT to a Parquet file; returns the number of rows."""
        with self.restricted(sql, file):
            # The statement was parsed and is one SELECT, so it cannot close this bracket.
            query = f"({sql.strip().rstrip(';')}\n)"
            cursor = self.connection.execute(f"COPY {query} TO '{quote(file)}' (FORMAT parquet, USE_TMP_FILE false)")
            return int((cursor.fetchone() or (0,))[0])

    @contextmanager
    def restricted(self, sql: str, file: Path | None) -> Iterator[None]:
        """Restrict what the block runs to reading the tables; DuckDB's errors become UsageError."""
        check_select(sql)
        self.switch_off_access(file)
        with refuse_query():
            yield

    def switch_off_access(self, file: Path | None) -> None:
        """Switch off access to disk and network, except for `file`, which will be written."""
        if file:
            self.connection.execute(f"SET allowed_paths = ['{quote(file)}']")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")


def connect(file: Path | None) -> duckdb.DuckDBPyConnection:
    """Open a database and create missing tables."""
    if file:
        delete_outdated(file)
    try:
        connection = duckdb.connect(str(file) if file else ":memory:")
    except duckdb.Error as error:
        raise CuestaError(f"{file}: {first_row(error)}", "is another cuesta ledger using it?") from None
    for name, table in TABLES.items():
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {name} ({', '.join(f'{c.name} {c.kind}' for c in table.columns)})"
        )
    connection.execute("CREATE TABLE IF NOT EXISTS sources (folder VARCHAR, fingerprint VARCHAR)")
    connection.execute(f"CREATE TABLE IF NOT EXISTS ledger_format AS SELECT '{shape()}' AS shape")
    return connection


def delete_outdated(file: Path) -> None:
    """Delete a ledger's database of another format. Raises CuestaError if the file is no such database."""
    if not file.exists():
        return
    try:
        with duckdb.connect(str(file), read_only=True) as connection:
            row = connection.execute("SELECT shape FROM ledger_format").fetchone()
    except duckdb.Error:
        what = f"{file}: exists, and is not a database of this cuesta's ledger"
        raise CuestaError(what, "delete it, or name another") from None
    if row != (shape(),):
        file.unlink()


def shape() -> str:
    """The format and all columns; a database with another shape is outdated."""
    return json.dumps(
        [FORMAT, {name: [(each.name, each.kind) for each in table.columns] for name, table in TABLES.items()}]
    ).replace("'", "")


def insert(connection: duckdb.DuckDBPyConnection, name: str, rows: Iterable[dict[str, Any]]) -> None:
    """Insert rows; a column that a row lacks is NULL."""
    table: SqlTable = TABLES[name]
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        written = [file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n") for row in rows]
        file.flush()
        if written:
            columns = ", ".join(f"'{each.name}': '{each.kind}'" for each in table.columns)
            connection.execute(
                f"INSERT INTO {name} SELECT * FROM "
                f"read_json('{quote(Path(file.name))}', columns = {{{columns}}}, format = 'newline_delimited')"
            )


@contextmanager
def refuse_query() -> Iterator[None]:
    """Raise UsageError in place of an error of DuckDB."""
    try:
        yield
    except duckdb.Error as error:
        raise UsageError(f"--sql: {first_row(error)}", "`cuesta ledger --tables` lists tables and columns") from None


def check_select(sql: str) -> None:
    """Raise UsageError unless `sql` is one SELECT."""
    with refuse_query():
        statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError(
            "--sql: expected one SELECT: the database can only be read", "write a query that begins with SELECT or FROM"
        )


def first_row(error: duckdb.Error) -> str:
    """An error's message without the query that DuckDB prints below it."""
    return str(error).split("\n\n")[0].replace("\n", " ").strip()


def quote(path: Path) -> str:
    """Escape a path for a quoted string of SQL."""
    return str(path.absolute()).replace("'", "''")
