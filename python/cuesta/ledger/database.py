"""The ledger's database: DuckDB over rows that were read from folders. Files are the truth.

It is made anew, in memory, for each question; with `--database FILE` it is kept, and only folders that changed are read
again. It can be deleted at any time. A question is one SELECT, and sees these tables and nothing of the disk or the
network: DuckDB's access to the outside is shut off before it is asked.
"""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb

from cuesta.errors import CuestaError, UsageError
from cuesta.ledger.tables import TABLES, SqlTable

FORMAT = 1
"""Of the kept file; one of another format is made anew."""

Rows = Mapping[str, list[dict[str, Any]]]
"""Rows by table."""


@dataclass(frozen=True, slots=True)
class SqlResult:
    """What came of a question."""

    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Database:
    """Tables, filled."""

    connection: duckdb.DuckDBPyConnection

    @classmethod
    @contextmanager
    def at(cls, file: Path | None) -> Iterator["Database"]:
        """Open one in memory, or one that is kept in a file: made anew where it is no database of this format."""
        connection = connect(file)
        try:
            yield cls(connection)
        finally:
            connection.close()

    def changed(self, folders: Mapping[str, str]) -> list[str]:
        """The folders whose fingerprint is not the one that they were read with; forget those that are gone."""
        known = dict(self.connection.execute("SELECT folder, fingerprint FROM sources").fetchall())
        for gone in known.keys() - folders.keys():
            self.forget(gone)
        return [folder for folder, fingerprint in folders.items() if known.get(folder) != fingerprint]

    def take(self, folder: str, fingerprint: str, rows: Rows) -> None:
        """Fill in what was read of a folder, instead of what was there of it."""
        self.forget(folder)
        for name, each in rows.items():
            insert(self.connection, name, each)
        self.connection.execute("INSERT INTO sources VALUES (?, ?)", [folder, fingerprint])

    def forget(self, folder: str) -> None:
        """Take a folder out of every table."""
        for name in [*TABLES, "sources"]:
            self.connection.execute(f"DELETE FROM {name} WHERE folder = ?", [folder])

    def damaged(self) -> list[str]:
        """Which folders could not be read to their end, and why."""
        found = self.connection.execute(
            "SELECT folder, damage FROM runs WHERE damage <> '' UNION ALL "
            "SELECT folder, damage FROM certifications WHERE damage <> '' ORDER BY folder"
        ).fetchall()
        return [f"{folder}: {'; '.join(damage.splitlines())}" for folder, damage in found]

    def ask(self, sql: str) -> SqlResult:
        """Answer one SELECT."""
        with self.asked(sql, None):
            found = self.connection.execute(sql)
            return SqlResult([each[0] for each in found.description or []], found.fetchall())

    def write(self, sql: str, file: Path) -> int:
        """Write the answer to one SELECT to a Parquet file; give the number of rows."""
        with self.asked(sql, file):
            # The statement was parsed, and is one SELECT: it cannot end the bracket it is put in.
            query = f"({sql.strip().rstrip(';')}\n)"
            found = self.connection.execute(f"COPY {query} TO '{quoted(file)}' (FORMAT parquet, USE_TMP_FILE false)")
            return int((found.fetchone() or (0,))[0])

    @contextmanager
    def asked(self, sql: str, file: Path | None) -> Iterator[None]:
        """Let a question see nothing but the tables, and say what is wrong with it."""
        check_select(sql)
        self.shut(file)
        try:
            yield
        except duckdb.Error as error:
            raise UsageError(
                f"--sql: {first_row(error)}", "`cuesta ledger --tables` lists tables and columns"
            ) from None

    def shut(self, file: Path | None) -> None:
        """Shut the outside off, but for a file that is to be written."""
        if file:
            self.connection.execute(f"SET allowed_paths = ['{quoted(file)}']")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")


def connect(file: Path | None) -> duckdb.DuckDBPyConnection:
    """Open a database whose tables are there."""
    if file and not is_ours(file):
        raise CuestaError(f"{file}: is there, and is no database of this cuesta's ledger", "delete it, or name another")
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


def is_ours(file: Path) -> bool:
    """Whether a file may be opened as the database: there is none yet, or it is one. An outdated one is deleted."""
    if not file.exists():
        return True
    with suppress(duckdb.Error):
        with duckdb.connect(str(file), read_only=True) as connection:
            found = connection.execute("SELECT shape FROM ledger_format").fetchone()
        if found != (shape(),):
            file.unlink()
        return True
    return False


def shape() -> str:
    """The format and all columns: a database of others is outdated."""
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
                f"read_json('{quoted(Path(file.name))}', columns = {{{columns}}}, format = 'newline_delimited')"
            )


def check_select(sql: str) -> None:
    """Refuse what is not one SELECT."""
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise UsageError(f"--sql: {first_row(error)}", "`cuesta ledger --tables` lists tables and columns") from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("--sql: expected one SELECT: the database is only asked", "files are the truth: edit nothing")


def first_row(error: duckdb.Error) -> str:
    """An error's message without the picture below it."""
    return str(error).split("\n\n")[0].replace("\n", " ").strip()


def quoted(path: Path) -> str:
    """Write a path so that it can stand between quotes of SQL."""
    return str(path.absolute()).replace("'", "''")
