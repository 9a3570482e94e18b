from hypothesis import given
from hypothesis import strategies as st

from cuesta.live.keyboard import ESCAPE, Keyboard

KEYS = {"\x1b[C": "right", "\x1bOD": "left", "\x1b[A": "up", "é": "é", "検": "検", "q": "q", "\r": "\r"}
IGNORED = ["\x1b[1;5C", "\x1b[15~", "\x1b[200~", "\x1bOP", "\x1b[M"]


@given(st.lists(st.sampled_from([*KEYS, *IGNORED])), st.lists(st.integers(0, 60)))
def test_keys_are_the_same_however_they_are_cut_into_pieces(typed: list[str], cuts: list[int]) -> None:
    whole, keyboard = "".join(typed).encode(), Keyboard()
    ends = sorted({min(cut, len(whole)) for cut in cuts} | {len(whole)})
    pieces = [whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    keys = [key for piece in pieces for key in keyboard.feed(piece)]
    assert keys == [KEYS[each] for each in typed if each in KEYS]
    assert not keyboard.is_within_sequence


@given(st.binary())
def test_any_bytes_leave_a_keyboard_that_takes_keys(noise: bytes) -> None:
    keyboard = Keyboard()
    keyboard.feed(noise)
    keyboard.finish()
    keyboard.feed(b"\x80")  # what ends a character that was cut
    assert keyboard.feed(b"q") == ["q"]


def test_a_lone_escape_is_a_key_once_nothing_follows() -> None:
    keyboard = Keyboard()
    assert keyboard.feed(b"\x1b") == []
    assert keyboard.is_within_sequence
    assert keyboard.finish() == [ESCAPE]
    assert keyboard.finish() == []


def test_an_escape_before_another_key_is_a_key() -> None:
    keyboard = Keyboard()
    assert keyboard.feed(b"\x1bm\x1b\x1b[D") == [ESCAPE, "m", ESCAPE, "left"]
