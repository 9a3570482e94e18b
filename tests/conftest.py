"""Fixtures for all tests: no settings from the environment, an empty folder, and files in it."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from hypothesis import HealthCheck, settings

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
