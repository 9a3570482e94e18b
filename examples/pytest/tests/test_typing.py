"""How quick jot is to type at."""

from pathlib import Path

import pytest

from cuesta.pytest_plugin import Cuesta

pytestmark = pytest.mark.cuesta(tape="edit.tape", settle="1s", measure="4s", limit="echo.p95 < 100ms")


def test_an_empty_note(cuesta: Cuesta) -> None:
    run = cuesta("pty:python3 ../jot.py")
    assert run.errors.count == 0


def test_a_long_note(cuesta: Cuesta, tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("words and more words\n" * 2_000)
    cuesta(f"pty:python3 ../jot.py {tmp_path / 'long.txt'}")
