"""The ledger's page: questions that are ready, each one SELECT. Others can be asked by `cuesta ledger --sql`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.report.model import Folded, Listing, Part, Remark, Section, Table
from cuesta.site.entries import Entry

MOST_ROWS = 500
RESULT = "CASE WHEN r.valid THEN 'VALID' ELSE 'INVALID' END AS validity"


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the ledger."""

    words: str
    sql: str


QUESTIONS: Mapping[str, Question] = {
    "steps": Question(
        "How did each load step answer?",
        f"SELECT r.name, r.started, s.step + 1 AS step, s.users, {RESULT}, round(1000 * s.echo_p95, 2) AS echo_p95_ms, "
        "round(1000 * s.response_p95, 1) AS response_p95_ms, round(s.transactions_per_s, 2) AS transactions_per_s, "
        "s.errors, r.folder FROM steps s JOIN runs r USING (folder) ORDER BY r.started DESC, r.folder, s.step",
    ),
    "slow": Question(
        "Which transactions are the slowest?",
        "SELECT c.transaction, r.name AS run, s.users, c.count, round(1000 * c.response_p50, 1) AS p50_ms, "
        "round(1000 * c.response_p99, 1) AS p99_ms, r.folder FROM classes c JOIN steps s USING (folder, step) "
        "JOIN runs r USING (folder) ORDER BY c.response_p99 DESC NULLS LAST",
    ),
    "invalid": Question(
        "Which runs cannot be trusted, and why?",
        "SELECT name, started, invalid_because, folder FROM runs WHERE NOT valid ORDER BY started DESC",
    ),
    "targets": Question(
        "How much was measured at each target?",
        "SELECT r.target, count(DISTINCT r.folder) AS runs, max(s.users) AS most_users, "
        "round(1000 * min(s.response_p95), 1) AS best_response_p95_ms, max(r.started) AS newest "
        "FROM runs r JOIN steps s USING (folder) GROUP BY r.target ORDER BY runs DESC",
    ),
    "errors": Question(
        "Where did hosts or lines fail?",
        "SELECT r.name, r.started, s.users, s.errors, s.errors_by_name, r.folder FROM steps s "
        "JOIN runs r USING (folder) WHERE s.errors > 0 ORDER BY s.errors DESC",
    ),
}


def ask(question: Question, places: Sequence[Path], database: Path, entries: Sequence[Entry]) -> list[Section]:
    """The answer as a section; folders that have changed are read again into the database, a file of its own."""
    from cuesta.ledger.database import Database  # noqa: PLC0415, DuckDB is slow to load
    from cuesta.report.sql_result import write_cell  # noqa: PLC0415
    from cuesta.workflow.query_ledger import fill  # noqa: PLC0415

    with Database.at(database) as opened:
        fill(opened, places)
        result = opened.fetch(question.sql)
    names = {str(entry.folder): entry.name for entry in entries}
    rows = [[names.get(str(value)) or write_cell(value) for value in row] for row in result.rows[:MOST_ROWS]]
    heads = [name.replace("_", " ") for name in result.columns]
    left_out = len(result.rows) - len(rows)
    caption = f"{left_out} further rows are not shown" if left_out else ""
    parts: list[Part] = [Table(heads, rows, caption) if rows else Remark("nothing: no row answers this", "faint")]
    command = Listing(f'cuesta ledger --sql "{question.sql}"')
    return [
        Section(question.words, parts, [Folded("The same in a terminal, where any question can be asked", [command])])
    ]
