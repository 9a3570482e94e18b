"""Renews tables in documents: those between the marks `<!-- table NAME -->` and `<!-- end -->`."""

from collections.abc import Mapping


def renew(text: str, tables: Mapping[str, str]) -> str:
    """Replace each table that the text has a mark for; the others are left out."""
    for name, table in tables.items():
        begin = f"<!-- table {name} -->\n"
        if begin in text:
            before, _, rest = text.partition(begin)
            _, end, tail = rest.partition("<!-- end -->")
            text = f"{before}{begin}{table}\n{end}{tail}"
    return text
