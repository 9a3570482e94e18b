"""A report as Markdown with tables, as GitHub shows it: short, for pull requests.

Everything that came from outside is escaped, so that no name makes a link, an image or a mention.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from cuesta.report.model import (
    Cell,
    Fact,
    Facts,
    Folded,
    Part,
    Remark,
    Report,
    Screen,
    Table,
    Verdict,
    as_words,
    combine,
)
from cuesta.report.render.plain import make_plain

ZERO_WIDTH = "\u200b"
"""An invisible space: GitHub links what looks like a name in the rendered text, where entities do not help."""
MARKS = {True: "✅", False: "❌", None: "⚠️"}
TONES = {"good": "✅ ", "bad": "❌ ", "notice": "⚠️ "}


def markdown(report: Report) -> str:
    """Write a report as Markdown; what only a page or `--verbose` shows is left out."""
    return "\n\n".join(_parts(make_plain(report))) + "\n"


def _parts(report: Report) -> Iterator[str]:
    verdict = report.verdict
    crossed = {True: "", False: ", limits not kept", None: ", limits not decided"}[report.limits_ok]
    yield f"### {MARKS[combine([verdict.good, report.limits_ok])]} {escape(report.title)}: {verdict.word}{crossed}"
    yield f"**{escape(report.headline)}**"
    if report.conclusion:
        yield f"**What limits the host**: {_part(report.conclusion)}"
    yield from _verdict(verdict)
    for section in report.sections:
        if parts := list(filter(None, map(_part, section.parts))):
            title = f"**{escape(section.title)}**"
            is_sentence = isinstance(section.parts[0], Remark)
            yield from [f"{title}: {parts[0]}", *parts[1:]] if is_sentence else [title, *parts]


def _verdict(verdict: Verdict) -> Iterator[str]:
    reasons = [f"- {escape(' → '.join(filter(None, reason)))}" for reason in verdict.reasons]
    yield "\n".join(reasons) if reasons else escape(verdict.text)
    yield from (f"**{escape(each)}**" for each in verdict.notices)


def _part(part: Part) -> str:
    match part:
        case Remark(text, tone):
            return TONES.get(tone, "") + escape(text)
        case Facts(rows):
            return "\n".join(f"- {escape(row.label)}: {_mark_tone(row)}" for row in rows if row.value)
        case Table():
            return write_table(part)
        case Screen(rows):
            # Behind four blanks nothing has a meaning.
            return "\n".join(f"    {row}" for row in rows)
        case Folded(title, parts):
            inner = "\n\n".join(filter(None, map(_part, parts)))
            return f"<details><summary>{escape(title)}</summary>\n\n{inner}\n\n</details>"
        case _:
            return ""


def _mark_tone(row: Fact) -> str:
    return TONES.get(row.tone, "") + escape(row.value)


def write_table(table: Table) -> str:
    """Write a table: its first column to the left, the others to the right; a heading of rows in bold."""
    columns = [number for number in range(len(table.heads)) if number not in table.wide]
    rules = [":--", *("--:" for _ in columns[1:])]
    body = [row for number, row in enumerate(table.rows) if number not in table.details]
    rows = [
        _row(table.heads, columns),
        rules,
        *(_heading(row, len(columns)) or _row(row, columns) for row in body),
    ]
    instead = f"\n\n{escape(table.instead)}" if table.details and table.instead else ""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows) + instead


def _heading(row: Sequence[Cell], columns: int) -> list[str]:
    return [f"**{_cell(row[0])}**", *[""] * (columns - 1)] if len(row) == 1 else []


def _row(row: Sequence[Cell], columns: Iterable[int]) -> list[str]:
    return [_cell(row[number]) for number in columns]


def _cell(cell: Cell) -> str:
    words = as_words(cell)
    return TONES.get(words.tone, "") + escape(words.text)


def escape(text: str) -> str:
    """Text in which nothing is Markdown or HTML, and nothing names a person, an issue or an address."""
    apart = re.sub(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=www)(?=\.)", ZERO_WIDTH, " ".join(text.split()))
    return re.sub(r"[&<>|`*_\[\]\\~]", lambda match: f"&#{ord(match[0])};", apart)
