"""Writes the tables of docs/ledger.md: `python -m cuesta.ledger.document docs/ledger.md` renews them in place."""

import sys
from collections.abc import Iterator
from pathlib import Path

from cuesta.ledger.tables import TABLES

MARK = "<!-- made from cuesta.ledger.tables -->\n\n"


def renew_document(text: str) -> str:
    """The text of the page with all tables and columns written anew; they are its end."""
    return text.partition(MARK)[0] + MARK + "\n".join(_markdown()).rstrip() + "\n"


def _markdown() -> Iterator[str]:
    for name, table in TABLES.items():
        yield f"### {name}\n\n{table.what[0].upper()}{table.what[1:]}.\n\n| column | type | |\n|---|---|---|"
        yield from (f"| `{each.name}` | {each.kind} | {each.what} |" for each in table.columns)
        yield ""


if __name__ == "__main__":
    page = Path(sys.argv[1])
    page.write_text(renew_document(page.read_text(encoding="utf-8")), encoding="utf-8")
