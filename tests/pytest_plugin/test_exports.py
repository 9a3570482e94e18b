"""Files that other tools read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.stats import Stats

from cuesta.pytest_plugin.exports import describe_commit
from cuesta.pytest_plugin.run_figures import describe_values
from tests.pytest_plugin.conftest import Session

pytest_plugins = ["pytester"]


@pytest.fixture
def exported(pytester: pytest.Pytester, session: Session) -> Path:
    """A folder with both files, of two tests."""
    pytester.makepyfile(
        test_app="""
        import pytest

        @pytest.mark.parametrize("echo", ["4ms", "9ms"])
        def test_typing(cuesta, echo):
            cuesta(f"pty:echo={echo}")
        """
    )
    written = ("--cuesta-benchmark-json", "made/benchmarks.json", "--cuesta-bencher", "made/metrics.json")
    session("--cuesta-baseline", "base.json", "--cuesta-update", *written).assert_outcomes(passed=2)
    return pytester.path / "made"


def test_pytest_benchmark_reads_its_file(exported: Path) -> None:
    command = [sys.executable, "-m", "pytest_benchmark", "compare", "--columns=median,rounds", "benchmarks.json"]
    read = subprocess.run(command, cwd=exported, capture_output=True, text=True, check=True)
    rows = [row.split() for row in read.stdout.splitlines() if row.startswith("test_typing[") and " echo" in row]
    assert [(row[0], row[-1]) for row in rows] == [("test_typing[4ms]", "50"), ("test_typing[9ms]", "50")]
    assert float(rows[1][-3]) / float(rows[0][-3]) == pytest.approx(9 / 4, rel=0.05)


def test_benchmarks_have_the_machine_and_the_commit(exported: Path) -> None:
    content = json.loads((exported / "benchmarks.json").read_text())
    assert content["machine_info"]["cpu"]["count"] >= 1
    assert content["commit_info"]["id"]
    (first, *_) = content["benchmarks"]
    assert (first["group"], first["fullname"]) == ("echo", "test_app.py::test_typing[4ms] echo")
    assert first["extra_info"]["verdict"] == "passed"


def test_a_commit_is_that_of_the_folder(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert describe_commit()["id"] == head
    monkeypatch.chdir("/proc")
    assert describe_commit()["id"] == "unknown"


def test_metrics_are_medians_of_runs_in_nanoseconds(exported: Path) -> None:
    content: dict[str, Any] = json.loads((exported / "metrics.json").read_text())
    assert list(content) == ["test_app.py::test_typing[4ms]", "test_app.py::test_typing[9ms]"]
    for measures in content.values():
        assert set(measures) == {"echo-p50", "echo-p95", *(f"response-{each}" for each in ("p50", "p95"))}
        for metric in measures.values():
            assert set(metric) == {"value", "lower_value", "upper_value"}
            assert metric["lower_value"] <= metric["value"] <= metric["upper_value"]
    assert content["test_app.py::test_typing[4ms]"]["echo-p50"]["value"] == pytest.approx(4e6, rel=0.05)


def test_statistics_are_those_of_pytest_benchmark() -> None:
    """But for quartiles, which have several definitions: ours is that of NumPy, and here the third one differs."""
    values = [0.001, 0.002, 0.002, 0.003, 0.004, 0.005, 0.008, 0.009, 0.1]
    make_stats: Any = Stats  # it has no types
    theirs = make_stats()
    for value in values:
        theirs.update(value)
    expected = theirs.as_dict() | {"q3": 0.008, "iqr": 0.006}
    ours = describe_values(values)
    assert {name: ours[name] for name in expected} == pytest.approx(expected)


def test_statistics_of_one_value() -> None:
    ours = describe_values([0.004])
    assert (ours["median"], ours["stddev"], ours["rounds"], ours["outliers"]) == (0.004, 0.0, 1, "0;0")
