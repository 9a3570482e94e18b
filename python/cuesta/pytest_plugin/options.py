"""The plugin's flags, and their values."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

Undecided = Literal["skip", "fail", "pass"]


@dataclass(frozen=True, slots=True)
class Options:
    """The flags of a session. Paths are absolute; None where a flag is not given."""

    baseline: Path | None
    update: bool
    undecided: Undecided
    out: Path | None
    machine: str | None
    benchmark_json: Path | None
    bencher: Path | None


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("cuesta", "how quick programs are to type at (cuesta)")
    group.addoption(
        "--cuesta-undecided",
        choices=("skip", "fail", "pass"),
        default="skip",
        help="what a test is that cannot tell: the machine was too busy, there were too few keys for a limit, or the "
        "baseline is of another machine; default skip",
    )
    group.addoption("--cuesta-baseline", metavar="FILE", help="compare each test's runs with those of this file")
    group.addoption(
        "--cuesta-update", action="store_true", help="write the runs of tests that pass into the file of the baseline"
    )
    group.addoption(
        "--cuesta-machine",
        metavar="NAME",
        help="name this machine in the baseline, instead of by its host name: machines of one name are one, if CPU, "
        "memory and kernel are the same",
    )
    group.addoption(
        "--cuesta-out",
        metavar="DIR",
        help="keep run folders there, with their pages; by default below pytest's temporary folder",
    )
    group.addoption("--cuesta-benchmark-json", metavar="FILE", help="write figures as pytest-benchmark does")
    group.addoption("--cuesta-bencher", metavar="FILE", help="write figures in Bencher's metric format")


def read_options(config: pytest.Config) -> Options:
    """Raises pytest.UsageError for flags that do not fit together."""
    baseline, update = _path(config, "baseline"), bool(config.getoption("cuesta_update"))
    if update and not baseline:
        raise pytest.UsageError("--cuesta-update: it writes the file of --cuesta-baseline: name one")
    if baseline and not update and not baseline.exists():
        raise pytest.UsageError(f"--cuesta-baseline: {baseline}: no such file; --cuesta-update writes it")
    return Options(
        baseline=baseline,
        update=update,
        undecided=config.getoption("cuesta_undecided"),
        out=_path(config, "out"),
        machine=config.getoption("cuesta_machine"),
        benchmark_json=_path(config, "benchmark_json"),
        bencher=_path(config, "bencher"),
    )


def _path(config: pytest.Config, name: str) -> Path | None:
    """A path as it was given, relative to the folder where pytest was started."""
    given = config.getoption(f"cuesta_{name}")
    return None if given is None else config.invocation_params.dir / given
