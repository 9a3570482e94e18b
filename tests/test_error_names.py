"""The names under which failures are counted: exactly these are explained."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINES = ROOT / "crates" / "cuesta-lines" / "src"
DRIVER = ROOT / "crates" / "cuesta-driver" / "src"
SCREEN = ROOT / "crates" / "cuesta-screen" / "src"
DOCS = [ROOT / "docs" / name for name in ("lines.md", "ssh.md")]

NAMING = re.compile(
    r"^    pub(?:\(crate\))? fn name\(&?self\) -> &'static str \{$.*?^    \}$", re.DOTALL | re.MULTILINE
)
"""Functions that give the failures of lines their names."""
COUNTED = re.compile(r'(?:counts\.error|errors\.entry|Lost)\("([a-z-]+)"\)')
"""Where the driver counts one by its name."""
TABLE = re.compile(r"^\| (?:name|counted as) \|.*\n\|[-|]+\n((?:\|.*\n)+)", re.MULTILINE)


def sources(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*.rs")):
        yield path.read_text(encoding="utf-8")


def in_the_code() -> set[str]:
    named = {
        name
        for text in (*sources(LINES), *sources(DRIVER), *sources(SCREEN))
        for body in NAMING.findall(text)
        for name in re.findall(r'"([a-z-]+)"', body)
    }
    return named | {name for text in sources(DRIVER) for name in COUNTED.findall(text)}


def in_the_docs() -> set[str]:
    tables = [rows for path in DOCS for rows in TABLE.findall(path.read_text(encoding="utf-8"))]
    first_cells = [row.split("|")[1] for rows in tables for row in rows.splitlines()]
    return {name for cell in first_cells for name in re.findall(r"`([a-z-]+)`", cell)}


def test_every_error_name_is_explained() -> None:
    names = in_the_code()
    assert names >= {
        "refused",
        "max-startups",
        "out-of-ptys",
        "busy",
        "half-sequence",
        "no-login",
        "dropped-sequence",
        "full-field",
    }
    assert names == in_the_docs()
