"""Files for other tools: pytest-benchmark's JSON (as version 5 writes it), and Bencher's metric format."""

import platform
import shutil
import statistics
import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cuesta import __version__
from cuesta.machine import facts
from cuesta.private_files import replace_json
from cuesta.pytest_plugin.measurement import Measurement

NANOSECONDS = 1e9
"""Bencher's unit of durations."""


def write_benchmarks(file: Path, measurements: Sequence[Measurement]) -> None:
    """Write pytest-benchmark's JSON: a benchmark for the keys of each test, and one for its transactions.

    A round is a key or a transaction of the run that was judged. Raises OSError.
    """
    machine = facts()
    content = {
        "machine_info": {
            "node": machine["id"],
            "machine": machine["architecture"],
            "system": machine["system"],
            "release": machine["kernel"],
            "python_implementation": platform.python_implementation(),
            "python_version": machine["python"],
            "cpu": {"brand_raw": machine["cpu"], "count": machine["cpus"], "arch": machine["architecture"]},
        },
        "commit_info": describe_commit(),
        "benchmarks": [row for each in measurements for row in list_benchmarks(each)],
        "datetime": datetime.now(UTC).isoformat(),
        "version": f"cuesta {__version__}",
    }
    _write(file, content)


def list_benchmarks(measurement: Measurement) -> list[dict[str, Any]]:
    short = measurement.name.rpartition("::")[2]
    extra = {"verdict": measurement.outcome, "page": measurement.page, **measurement.figures}
    return [
        {
            "group": series,
            "name": f"{short} {series}",
            "fullname": f"{measurement.name} {series}",
            "params": None,
            "param": None,
            "extra_info": extra,
            "options": {},
            "stats": dict(stats),
        }
        for series, stats in measurement.series.items()
    ]


def write_metrics(file: Path, measurements: Sequence[Measurement]) -> None:
    """Write Bencher's metrics: by test, the median of its runs, with the least and the largest. Raises OSError."""
    _write(file, {each.name: describe_metrics(each) for each in measurements if each.runs})


def describe_metrics(measurement: Measurement) -> dict[str, dict[str, float]]:
    """By measure, such as `echo-p95`, in nanoseconds as Bencher's own measure of latency."""
    return {
        name.replace(".", "-"): {
            "value": NANOSECONDS * statistics.median(values),
            "lower_value": NANOSECONDS * min(values),
            "upper_value": NANOSECONDS * max(values),
        }
        for name, values in measurement.runs.items()
        if values
    }


def describe_commit() -> dict[str, Any]:
    """The commit of the folder, if it is one of Git's."""
    unknown = {"id": "unknown", "time": None, "author_time": None, "dirty": False, "project": None, "branch": "unknown"}
    git = shutil.which("git")
    if git is None:
        return unknown

    def ask(*words: str) -> str:
        return subprocess.run([git, *words], capture_output=True, text=True, check=True).stdout.strip()

    try:
        commit, time, author_time = ask("log", "-1", "--format=%H%n%cI%n%aI").splitlines()
        return {
            "id": commit,
            "time": time,
            "author_time": author_time,
            "dirty": bool(ask("status", "--porcelain", "--untracked-files=no")),
            "project": Path(ask("rev-parse", "--show-toplevel")).name,
            "branch": ask("rev-parse", "--abbrev-ref", "HEAD"),
        }
    except (subprocess.CalledProcessError, ValueError):
        return unknown


def _write(file: Path, content: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_json(file, content)
