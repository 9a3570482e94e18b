"""Only `engine/local` knows processes, files of the machine, and that clocks agree. Others ask it through the ports."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import cuesta

ROOT = Path(cuesta.__file__).parent
LOCAL = "cuesta.engine.local"
OUTSIDE = [path for path in ROOT.rglob("*.py") if not path.is_relative_to(ROOT / "engine" / "local")]
MAY_IMPORT = {
    "engine/engines.py": "names the engines",
    "engine/remote/remote_engine.py": "host and meters are on this machine",
    **dict.fromkeys(
        ("engine/remote/node_end.py", "engine/ssh_nodes/node_session.py"), "starts agents on the machine where it is"
    ),
    **dict.fromkeys(("engine/ray/cluster.py", "engine/ray/node_actor.py"), "is in a process of its own machine"),
    **dict.fromkeys(
        ("engine/ssh_nodes/ssh_engine.py", "engine/ssh_nodes/ssh_process.py"), "reaches others from this machine"
    ),
    "workflow/certify_system.py": "a certificate describes this machine",
    "cli/host.py": "serves here",
    **dict.fromkeys(
        ("cli/meters.py", "cli/meter_rows.py", "cli/saved_interval.py", "workflow/service_profile.py"),
        "meter this machine",
    ),
}
FOLLOWS_RUNS = [*(ROOT / "engine").glob("*.py"), *(ROOT / "workflow").glob("*.py"), *(ROOT / "live").glob("*.py")]
KNOWS_PROCESSES = re.compile(r"\b(subprocess|multiprocessing|signal|Popen|getpid|pids?|nsenter)\b|/proc\b|/sys/")


def code(path: Path) -> str:
    """The source without strings that only describe it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [row for row in body if not is_text(row)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def is_text(row: ast.AST) -> bool:
    return isinstance(row, ast.Expr) and isinstance(row.value, ast.Constant)


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))


def test_only_few_name_this_machine() -> None:
    importing = {
        path.relative_to(ROOT).as_posix() for path in OUTSIDE if any(name.startswith(LOCAL) for name in imported(path))
    }
    assert importing == set(MAY_IMPORT)


@pytest.mark.parametrize("path", FOLLOWS_RUNS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_follows_a_run_knows_no_process(path: Path) -> None:
    assert not KNOWS_PROCESSES.findall(code(path))


def test_what_is_shared_is_assumed_in_one_file_each() -> None:
    """Whether a clock is the engine's, and where an agent's records are: a search also clears a folder of its own."""
    naming = {
        word: {path.name for path in (ROOT / "engine").glob("*.py") if word in code(path)}
        for word in ("clock_name", "agent-")
    }
    assert naming == {"clock_name": {"clocks.py"}, "agent-": {"agents.py", "folder.py", "search_folder.py"}}
