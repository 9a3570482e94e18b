"""The names under which failures are counted: the documents explain exactly these, and the analysis knows no others."""

import re
from pathlib import Path

from cuesta import _native
from cuesta.analysis.doubts.phrases import AT_START, LINE_IS_KEPT
from cuesta.analysis.doubts.table import DRIVER_LACKS
from cuesta.analysis.step import ECHO_ERRORS

DOCS = Path(__file__).parents[1] / "docs"
TABLE = re.compile(r"^\| (?:name|counted as) \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


def names_in(page: Path) -> set[str]:
    tables = TABLE.findall(page.read_text(encoding="utf-8"))
    first_cells = [row.split("|")[1] for rows in tables for row in rows.splitlines()]
    return {name for cell in first_cells for name in re.findall(r"`([a-z0-9-]+)`", cell)}


def test_every_name_is_explained() -> None:
    pages = ("lines.md", "ssh.md", "web.md")
    assert set().union(*(names_in(DOCS / page) for page in pages)) == set(_native.failures())


def test_the_analysis_knows_no_other_names() -> None:
    known = LINE_IS_KEPT | ECHO_ERRORS | set(AT_START) | set(DRIVER_LACKS)
    assert known <= set(_native.failures())
