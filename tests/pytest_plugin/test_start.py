"""The plugin is loaded by every pytest of an environment that has Cuesta: that must cost next to nothing."""

import json
import subprocess
import sys
from pathlib import Path

SESSION = """
import json, sys, pytest
before = set(sys.modules)
pytest.main(["-q", "-p", "cuesta.pytest_plugin", "-p", "no:cacheprovider", "--co", sys.argv[1]], plugins=[])
print(json.dumps(sorted(name for name in set(sys.modules) - before if name.partition(".")[0] == "cuesta")))
print(json.dumps(sorted({"pydantic", "rich", "scipy", "numpy", "duckdb", "subprocess"} & (set(sys.modules) - before))))
"""


def test_a_session_that_does_not_measure_loads_little(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_nothing(): pass\n")
    done = subprocess.run([sys.executable, "-c", SESSION, str(tmp_path)], capture_output=True, text=True, check=True)
    ours, slow = map(json.loads, done.stdout.splitlines()[-2:])
    assert "cuesta.pytest_plugin" in ours
    light = {"cuesta", "cuesta.errors", "cuesta.units"}
    of_plugin = {f"cuesta.pytest_plugin.{name}" for name in ("fixture", "hooks", "measurement", "options", "session")}
    assert set(ours) <= light | {"cuesta.pytest_plugin"} | of_plugin
    assert slow == []
