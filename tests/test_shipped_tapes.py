"""The tapes that ship with Cuesta: what their comments say, and which of them a name stands for."""

from pathlib import Path

import pytest

from cuesta import _native
from cuesta.engine.tapes import read_tape
from cuesta.shipped_tapes import list_words, locate_tape, read_shipped_tape
from cuesta.target import BUILTIN_HOST


@pytest.mark.parametrize("word", list_words())
def test_a_tape_says_what_is_typed_and_fits_its_target(word: str) -> None:
    tape = read_shipped_tape(word)
    assert tape.purpose.endswith(".")
    parsed = read_tape(f"builtin:{word}")
    assert parsed.notes == ()
    assert parsed.times_echo
    assert parsed.content.transactions()
    assert tape.target == BUILTIN_HOST or parsed.content.misfit(_native.target(tape.target)) is None


def test_a_word_names_a_tape_and_any_other_name_a_file(tmp_path: Path) -> None:
    (tmp_path / "typing").write_text("Enter\n")
    assert locate_tape("typing", tmp_path) == locate_tape("builtin:typing", tmp_path) == "builtin:typing"
    for name in ("./typing", "typing.tape", "sub/typing", "other"):
        assert locate_tape(name, tmp_path) == str(tmp_path / name)
