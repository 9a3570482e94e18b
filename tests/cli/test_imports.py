"""The libraries that each verb loads for its work: a verb loads no library that it does not use.

SciPy and NumPy take a second to load, DuckDB and pydantic some tenths. Help loads none: see test_start.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from cuesta.cli.main import VERBS
from tests.analysis.capacity.simulated import Load, write
from tests.busy import BUSY
from tests.cli.test_compare import side
from tests.test_old_folders import unpacked

LIBRARIES = ("duckdb", "markupsafe", "numpy", "pydantic", "rich", "scipy")
ROOT = Path(__file__).parents[2]
STUDIES = ROOT / "studies"

WORK = {
    # What is shown on a terminal is laid out by rich; what reads plans, run folders or typed tables needs pydantic.
    "run": ("run busy.toml --users 1 --measure 1s --settle 0s --quiet", 0, "markupsafe pydantic rich"),
    "run, planned": ("run --dry-run", 0, "pydantic"),
    "search, planned": ("search --dry-run --limit 'echo.p95 < 1s'", 0, "pydantic"),
    "certify, shown": ("certify certification", 0, "markupsafe pydantic rich"),
    "certify, typed": (f"certify --verify {STUDIES}/certification/published.toml", 1, "pydantic rich"),
    "predict": ("predict loads", 0, "numpy pydantic rich scipy"),
    "compare": ("compare base new", 90, "pydantic rich"),
    "ledger": ("ledger certification", 0, "pydantic rich"),
    "ledger, checked": (f"ledger --check {STUDIES}/benchmark/1974.toml", 1, "pydantic rich"),
    "ledger, asked": ("ledger main --sql 'from steps'", 0, "duckdb pydantic rich"),
    "report": ("report loads --verbose", 0, "markupsafe pydantic rich"),
    "live": ("live missing", 104, ""),
    "host": ("host --attached", 0, "pydantic"),
    "tmux": ("tmux status", 1, ""),  # no agent works here
    "meters": ("meters 50ms 1", 0, "rich"),
    "meters, reported": ("meters --exact 50ms 1", 0, "rich"),
    "record": ("record --from short.cast --out short --force", 0, ""),
    "tapes": ("tapes", 0, "rich"),
    "check": ("check builtin:interactive", 0, ""),
    "check, a plan": (f"check {STUDIES}/benchmark/short.toml", 0, "pydantic"),
}
"""Command lines that do the work of each verb, and the libraries that they load."""
CAST = """{"version": 2, "width": 80, "height": 24}
[0.0, "o", "$ "]
[0.5, "i", "l"]
[0.6, "o", "l"]
[0.7, "i", "\\r"]
[0.8, "o", "\\r\\n$ "]
"""


def libraries_of(command: str, place: Path) -> tuple[int, set[str]]:
    """The exit code of a command line, and the libraries that it has loaded when it ends."""
    code = f"""
import atexit, json, sys
atexit.register(lambda: print(json.dumps([name for name in {LIBRARIES} if name in sys.modules]), file=sys.stderr))
sys.argv[0] = "cuesta"
from cuesta.__main__ import main
sys.exit(main())
"""
    started = [sys.executable, "-c", code, *shlex.split(command)]
    ended = subprocess.run(started, cwd=place, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return ended.returncode, set(json.loads(ended.stderr.splitlines()[-1]))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the command lines read."""
    made = tmp_path_factory.mktemp("place")
    for name in ("main", "certification"):
        unpacked(name, made)
    side(made / "base", 6, 0.1)
    side(made / "new", 6, 0.2)
    write(made / "loads", [Load(users=users, think=1.0, service=0.05) for users in (2, 8, 16, 30)], seconds=10)
    (made / "short.cast").write_text(CAST)
    (made / "busy.toml").write_text(BUSY)
    return made


def test_each_verb_has_a_row() -> None:
    assert {name.partition(",")[0] for name in WORK} == set(VERBS)


@pytest.mark.parametrize("name", WORK)
def test_a_verb_loads_the_libraries_that_it_uses(name: str, place: Path) -> None:
    command, exit_code, libraries = WORK[name]
    assert libraries_of(command, place) == (exit_code, set(libraries.split()))


@pytest.mark.nightly
def test_a_search_fits_its_trials_without_scipy(tmp_path: Path) -> None:
    command = "search --users 2 --most 2 --measure 2s --settle 0s --budget 40s --quiet --limit 'echo.p95<9s'"
    assert libraries_of(command, tmp_path)[1] == {"markupsafe", "numpy", "pydantic", "rich"}


def test_the_library_loads_nothing_before_it_is_used() -> None:
    code = "import sys, cuesta; print([name for name in sys.modules if name.startswith('cuesta.')])"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "[]"
