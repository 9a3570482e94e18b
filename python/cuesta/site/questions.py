"""The ledger's page: questions that are ready, each one SELECT. Others can be asked by `cuesta ledger --sql`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from cuesta.plain_text import plain
from cuesta.site.entries import Entry
from cuesta.site.lists import head

MOST_ROWS = 500
LONG = 40
"""Characters of a cell that may be wrapped."""
NOTHING = Markup()
ROW, NUMBER = Markup("<tr>{}</tr>\n"), Markup('<td class="number">{}</td>')
ANSWER = Markup(
    '<section>\n<h2 id="answer">{words}</h2>\n<div class="wide"><table class="answer" aria-labelledby="answer">\n'
    '<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n<p class="faint">{note}</p>\n'
    "<details><summary>The same in a terminal, where any question can be asked</summary>\n"
    '<div class="wide"><pre><code>cuesta ledger --sql "{sql}"</code></pre></div></details>\n</section>\n'
)
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


def ask(question: Question, places: Sequence[Path], database: Path, entries: Sequence[Entry]) -> Markup:
    """The answer as HTML; folders that have changed are read again into the database, a file of its own."""
    from cuesta.ledger.database import Database  # noqa: PLC0415, DuckDB is slow to load
    from cuesta.report.sql_result import is_number, write_cell  # noqa: PLC0415
    from cuesta.workflow.query_ledger import fill  # noqa: PLC0415

    with Database.at(database) as opened:
        fill(opened, places)
        result = opened.fetch(question.sql)
    known = {str(entry.folder): entry for entry in entries}
    are_numbers = [any(is_number(row[number]) for row in result.rows) for number in range(len(result.columns))]
    rows = NOTHING.join(
        ROW.format(
            NOTHING.join(
                NUMBER.format(write_cell(value)) if numeric else _cell(write_cell(value), known.get(str(value)), known)
                for value, numeric in zip(row, are_numbers, strict=True)
            )
        )
        for row in result.rows[:MOST_ROWS]
    )
    left_out = len(result.rows) - MOST_ROWS
    return ANSWER.format(
        words=question.words,
        heads=NOTHING.join(
            head(name.replace("_", " "), is_number=numeric)
            for name, numeric in zip(result.columns, are_numbers, strict=True)
        ),
        rows=rows,
        note=f"{left_out} further rows are not shown" if left_out > 0 else "" if rows else "no row answers this",
        sql=question.sql,
    )


def _cell(text: str, entry: Entry | None, known: Mapping[str, Entry]) -> Markup:
    """A cell of words; the folder of an entry is a link to its page."""
    link = Markup('<a href="{}">{}</a>').format(entry.address, plain(_place(entry, known))) if entry else plain(text)
    return Markup('<td class="{}">{}</td>').format("wraps text" if len(text) > LONG else "text", link)


def _place(entry: Entry, known: Mapping[str, Entry]) -> str:
    """The name of a folder, after that of what it is a part of."""
    whole = next((each for each in known.values() if each.id == entry.part_of), None)
    return f"{whole.name}/{entry.name}" if whole else entry.name
