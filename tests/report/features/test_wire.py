"""The section of the network between driver and host."""

from dataclasses import replace
from pathlib import Path

from cuesta.analysis.summary import summarise
from cuesta.report.features.wire import section
from cuesta.report.model import Facts, Remark
from tests.report.made_up import batching, good


def test_it_has_what_crossed_the_wire_and_what_tmux_did(tmp_path: Path) -> None:
    (part,) = section(summarise(batching(tmp_path / "run")).last)
    (facts,) = part.parts
    assert isinstance(facts, Facts)
    values = {each.label: each.value for each in facts.rows}
    assert values["packets per key"] == "1"
    assert (values["segments per datagram"], values["packets that TMux's agents lost"]) == ("6", "0")


def test_a_missing_record_is_named(tmp_path: Path) -> None:
    step = replace(summarise(good(tmp_path / "run")).last, wire_missing="no data: as it happens")
    (part,) = section(step)
    assert part.parts == [Remark("no data: as it happens", "notice")]


def test_other_runs_have_no_such_section(tmp_path: Path) -> None:
    assert list(section(summarise(good(tmp_path / "run")).last)) == []
