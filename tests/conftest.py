"""Fixtures for all tests: no settings from the environment, an empty folder, and files in it."""

import json
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from cuesta.cli import main
from cuesta.errors import Exit
from tests import person

# Only the seed of `scripts/test` chooses the examples: not what an earlier run met, and not Hypothesis' profile for CI.
# A failure prints its example and how to replay it. No time fails a test, because others may take its CPU for a while.
settings.register_profile(
    "shared",
    database=None,
    derandomize=False,
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("shared")

# Meters keep their constants there, which take seconds to measure: all tests share them, whatever their HOME is.
os.environ.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the files that wait for programs, and end with those that compute: none is left over for long.

    By chance that is the reverse order of their names. In a file, tests keep their order.
    """
    items.sort(key=lambda item: item.path, reverse=True)


Write = Callable[[str, str], Path]


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("CUESTA_") or name == "COLUMNS":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _no_programs_left() -> Iterator[None]:
    yield
    person.end_all()


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """Random choices of a test, by its name and the seed of `scripts/test`; a failure prints both."""
    seed = f"{request.node.name} {request.config.getoption('hypothesis_seed')}"
    print(f"random choices: seed {seed!r}")
    return random.Random(seed)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def write(here: Path) -> Write:
    """A function that writes a file in `here` and returns its path."""

    def one(name: str, text: str) -> Path:
        (here / name).write_text(dedent(text).lstrip("\n"), encoding="utf-8")
        return here / name

    return one


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its exit code, and what it printed."""

    code: int
    out: str
    err: str

    def ends(self, code: int = Exit.GOOD, *words: str) -> "Ended":
        """Assert its exit code, and texts that are in its messages."""
        assert (self.code, [text for text in words if text not in self.err]) == (code, []), self.err
        return self

    @property
    def row(self) -> str:
        """Its output in one row."""
        return " ".join(self.out.split())

    @property
    def json(self) -> Any:
        """The object that `--json -` prints."""
        assert self.out, self.err
        return json.loads(self.out)


Cuesta = Callable[..., Ended]
"""Carries out a command: `cuesta("report", folder, "--json", "-")`."""


@pytest.fixture
def cuesta(capsys: pytest.CaptureFixture[str]) -> Cuesta:
    def carry_out(*arguments: str | Path) -> Ended:
        capsys.readouterr()
        try:
            code = main([*map(str, arguments)])
        except SystemExit as left:  # of argparse
            code = int(left.code or 0)
        return Ended(code, *capsys.readouterr())

    return carry_out
