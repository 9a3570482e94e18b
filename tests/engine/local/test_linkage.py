"""Reports of dynamic linkers: parsed, and from real programs."""

import os
import subprocess
from pathlib import Path

import pytest

from cuesta.engine.local.linkage import Linkage, programs, record_linkage
from cuesta.ledger.rows import json_rows

SAID = """\
        71:\t
        71:\truntime linker statistics:
        71:\t  total startup time in dynamic loader: 225911 cycles
        71:\t                 number of relocations: 505
        71:\t      number of relocations from cache: 7
        71:\t        number of relative relocations: 3882
        72:\t
        72:\truntime linker statistics:
        72:\t           final number of relocations: 508
        71:\t           final number of relocations: 512
        71:\tfinal number of relocations from cache: 7
"""


@pytest.mark.parametrize(
    ("said", "bound"),
    [
        (SAID, [512]),
        (SAID + SAID, [512, 512]),
        (SAID.replace("        71:\t           final number of relocations: 512\n", ""), [505]),
        ("", []),
        (SAID[:150], []),
    ],
    ids=["one", "one after the other", "killed", "nothing", "cut off"],
)
def test_references_are_those_bound_by_name_in_the_process_itself(said: str, bound: list[int]) -> None:
    assert programs(said, "71") == bound


def alone(*command: str, folder: Path) -> list[int]:
    """Run one program; returns its linker's report."""
    folder.mkdir()
    subprocess.run(command, env=os.environ | Linkage(folder).environment, check=True, stdout=subprocess.DEVNULL)
    return [symbols for file in folder.iterdir() for symbols in programs(file.read_text(), file.suffix[1:])]


def test_programs_that_are_started_are_counted_with_all_that_they_bind(tmp_path: Path) -> None:
    (shell,) = alone("/bin/sh", "-c", ":", folder=tmp_path / "sh")
    (date,) = alone("/bin/date", folder=tmp_path / "date")
    run = tmp_path / "run-1"
    with record_linkage(run, 0.05) as environment:
        run.mkdir()
        script = "date; date; (:); exec date"
        subprocess.run(["/bin/sh", "-c", script], env=os.environ | environment, check=True, stdout=subprocess.DEVNULL)
    rows = list(json_rows(run / "linkage.jsonl", lambda row: (row["programs"], row["symbols"]), []))
    assert rows[0] == (0, 0)
    last_programs, last_symbols = rows[-1]
    assert last_programs == 4
    # The shell binds a few more references than an empty shell does.
    assert shell + 3 * date <= last_symbols <= 1.2 * (shell + 3 * date)
