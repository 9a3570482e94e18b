"""The copy of a folder of records: whole rows at every moment, and all of it at the end."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.engine.remote import shipping
from cuesta.engine.remote.shipping import Shipping, write_piece

ROWS = st.sampled_from(["series.jsonl", "keys.csv", "user-3.cast"])
WRITES = st.tuples(ROWS, st.text("ab\n", max_size=30).map(str.encode))
REPLACED = st.tuples(st.just("timeline.json"), st.binary(min_size=1, max_size=30))


def write(folder: Path, name: str, content: bytes) -> None:
    """Append rows as a recorder does, or replace a file as a whole."""
    if name.endswith(".json"):
        part = folder / f"{name}.part"
        part.write_bytes(content)
        part.replace(folder / name)
    else:
        with (folder / name).open("ab") as file:
            file.write(content)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


@given(written=st.lists(st.lists(st.one_of(WRITES, REPLACED), max_size=6), max_size=6))
def test_the_copy_has_the_whole_rows_of_what_was_written_and_in_the_end_all_of_it(
    written: list[list[tuple[str, bytes]]],
) -> None:
    with TemporaryDirectory() as here, TemporaryDirectory() as there, pytest.MonkeyPatch.context() as patched:
        patched.setattr(shipping, "LONGEST_PIECE", 7)
        folder, copy = Path(here), Path(there)
        sent = Shipping(folder)
        for writes in written:
            for name, content in writes:
                write(folder, name, content)
            for piece in sent.new_pieces():
                write_piece(piece, copy)
            whole = {
                name: text if name.endswith(".json") else text[: text.rfind(b"\n") + 1]
                for name, text in files(folder).items()
            }
            assert files(copy) == whole
        for piece in sent.new_pieces(is_complete=True):
            write_piece(piece, copy)
        assert files(copy) == files(folder)


@pytest.mark.parametrize("name", ["../run.json", "/etc/passwd", ".profile", "agent.json/x", "", "row\n.json"])
def test_a_name_that_no_record_has_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a record"):
        write_piece({"file": name, "at": 0, "bytes": ""}, tmp_path / "agent-0")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("at", [3, 10**12, -1, "0", None])
def test_a_piece_that_is_not_the_next_one_is_refused(tmp_path: Path, at: object) -> None:
    write_piece({"file": "series.jsonl", "at": 0, "bytes": "YWI="}, tmp_path)
    with pytest.raises(ValueError, match="a piece from"):
        write_piece({"file": "series.jsonl", "at": at, "bytes": "YQ=="}, tmp_path)
    assert (tmp_path / "series.jsonl").read_bytes() == b"ab"
