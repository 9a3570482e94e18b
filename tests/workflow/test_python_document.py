"""The code of docs/python.md is carried out as it stands there."""

import re
from pathlib import Path
from typing import Any

import nanoarrow
import pytest

from cuesta.errors import Exit

DOCUMENT = Path(__file__).parents[2] / "docs" / "python.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)


def test_the_document_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tape,) = blocks("tape")
    Path("edit.tape").write_text(tape)
    names: dict[str, Any] = {}
    (first, *rest) = blocks("python")
    exec(first, names)
    printed = capsys.readouterr()
    assert "LIMITED BY" in printed.out
    assert not printed.err
    for block in rest:
        exec(block, names)
    assert names["comparison"].exit == Exit.REFUSED
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "")
    frame = nanoarrow.ArrayStream(names["steps"]).read_all()
    assert len(frame) == 1
    slow = names["slow"]
    assert slow.columns == ["folder", "users", "echo_p95"]
    assert {row[1] for row in slow.rows()} == {2}
