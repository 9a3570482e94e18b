"""The maps: the docstring of each package names its modules, and ARCHITECTURE.md lists the imports between packages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cuesta

ROOT = Path(cuesta.__file__).parent
ROOMS = sorted(path.parent for path in ROOT.rglob("__init__.py"))
ARCHITECTURE = Path(__file__).parent.parent / "ARCHITECTURE.md"


def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: str(room.relative_to(ROOT.parent)))
def test_each_module_of_a_room_is_in_its_docstring(room: Path) -> None:
    modules = {file.stem for file in room.glob("*.py")} | {inner.parent.name for inner in room.glob("*/__init__.py")}
    text = ast.get_docstring(tree(room / "__init__.py")) or ""
    assert modules - {"__init__", "__main__"} <= set(re.findall(r"`(\w+)`", text))


def test_imports_between_rooms_are_the_arrows_of_the_architecture() -> None:
    rooms = {room.name for room in ROOMS if room.parent == ROOT}
    drawn = re.search(r"Python's arrows: (.*?)\.\n", ARCHITECTURE.read_text(encoding="utf-8"), re.DOTALL)
    assert drawn
    arrows = {
        (start, end)
        for start, ends in re.findall(r"`(\w+)` → ([^;]+)", drawn[1])
        for end in (rooms - {start} if ends == "all" else re.findall(r"`(\w+)`", ends))
    }
    assert {(room, other) for room in rooms for other in imported(room) & rooms - {room}} == arrows


def imported(room: str) -> set[str]:
    """The packages of cuesta that a package imports."""
    return {name for file in (ROOT / room).rglob("*.py") for node in ast.walk(tree(file)) for name in named(node)}


def named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        first, _, rest = node.module.partition(".")
        if first == "cuesta":
            yield from [rest.partition(".")[0]] if rest else (alias.name for alias in node.names)


KNOWN_BY = {
    "cuesta.analysis.certify": {"compare/sides.py", "sql_rows.py"},
    "cuesta.analysis.history": {"sql_rows.py"},
}
"""Rooms of one study, and the files of `analysis` that read any kind of folder and so import them."""


@pytest.mark.parametrize("room", KNOWN_BY)
def test_a_room_of_one_study_is_known_by_nobody_else(room: str) -> None:
    analysis, own = ROOT / "analysis", ROOT.parent / room.replace(".", "/")
    others = [file for file in analysis.rglob("*.py") if own not in file.parents]
    knowing = [file for file in others if any(name.startswith(room) for name in imported_modules(file))]
    assert {str(file.relative_to(analysis)) for file in knowing} == KNOWN_BY[room]


FEATURES = re.compile("tmux|multiplex|kernel_path|in_kernel|bisync")
OF_FEATURES = (
    *("analysis/features", "report/features", "engine/local/network", "figures/wire", "figures/bisync", "ledger/wire"),
    *("cli/tmux", "cli/verbs/tmux", "engine/local/tmux_process", "report/tmux_status"),
)
DECLARED_IN = {
    *("figures/step.py", "figures/document.py", "figures/system_under_test.py", "records/rows.py"),
    *("plan/schema.py", "plan/sweep.py", "plan/keywords.py"),
}
"""The tables of all figures, records and settings: they declare those of features too."""


def test_features_of_one_study_are_known_by_nobody_else() -> None:
    """Others import only a room's map, and nothing but tables of declarations has a name of a feature's."""
    others = [file for file in ROOT.rglob("*.py") if not str(file.relative_to(ROOT)).startswith(OF_FEATURES)]
    knowing = {str(file.relative_to(ROOT)) for file in others if any(map(FEATURES.search, names_used(tree(file))))}
    assert knowing == DECLARED_IN
    inside = re.compile(r"cuesta\.(analysis|report)\.features\.")
    assert not [file for file in others if any(map(inside.match, imported_modules(file)))]


def names_used(module: ast.Module) -> Iterator[str]:
    """What a module imports, and its variables, parameters, attributes, functions and classes."""
    for node in ast.walk(module):
        yield from (
            str(value) for key, value in ast.iter_fields(node) if key in {"id", "arg", "attr", "name", "module"}
        )


def imported_modules(file: Path) -> set[str]:
    return {node.module or "" for node in ast.walk(tree(file)) if isinstance(node, ast.ImportFrom)}
