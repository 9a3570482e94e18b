"""The copy of a folder of records: whole rows at every moment, and all of it at the end."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.engine.remote import shipping
from cuesta.engine.remote.shipping import Shipping, keep_piece

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
    return {path.name: path.read_bytes() for path in folder.glob("*") if path.stat().st_size}


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
                keep_piece(piece, copy)
            whole = {
                name: text if name.endswith(".json") else text[: text.rfind(b"\n") + 1]
                for name, text in files(folder).items()
            }
            assert files(copy) == {name: text for name, text in whole.items() if text}
        for piece in sent.new_pieces(is_complete=True):
            keep_piece(piece, copy)
        assert files(copy) == files(folder)


@pytest.mark.parametrize("name", ["../run.json", "/etc/passwd", ".profile", "agent.json/x", "", "row\n.json"])
def test_a_name_that_no_record_has_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a record"):
        keep_piece({"file": name, "at": 0, "bytes": ""}, tmp_path / "agent-0")
    assert not any(tmp_path.iterdir())
