"""Agents on several nodes in reports: each by its node, many of them in short, and odd ones in a sentence."""

import re
from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.figures.driver import OddNode
from cuesta.report.agents import agents_parts, describe_odd_nodes
from cuesta.report.model import Folded, Table
from cuesta.report.render import markdown
from cuesta.report.run_report import build_report, text
from cuesta.report.several import write_page
from cuesta.report.validity import describe_ending
from tests.nodes import make_odd, spread
from tests.run_folder import change_rows


def test_what_differs_on_a_node_is_among_what_is_unusual(tmp_path: Path) -> None:
    summary = summarise(make_odd(tmp_path / "run"))
    said = [
        "10.77.0.5: echo 12.1 ms at the median, the others 6.99 ms: another way to the host?",
        "10.77.0.3: driver CPU a key 692 µs, the others 308 µs: a slower or busier machine?",
    ]
    assert list(describe_odd_nodes(summary.last)) == said
    shown = str(text(summary, colour=False, verbose=True))
    assert "NOTICE     10.77.0.5: echo 12.1 ms at the median" in shown
    named = [row for row in shown.splitlines() if re.search(r"10\.77\.0\.\d", row)]
    assert max(map(len, named)) <= 80
    assert len(named) == 8 + len(said)


WAY, SHORTER, MACHINE = "another way to the host", "a shorter way to the host", "a slower or busier machine"


@pytest.mark.parametrize(
    ("odd", "said", "cause"),
    [
        ([("response", "work", 2.0, 1.0)], "response 2.00 s at the median, the others 1.00 s", WAY),
        ([("response", "work", 1.0, 2.0)], "response 1.00 s at the median, the others 2.00 s", SHORTER),
        (
            [("lateness", None, 0.005, 0.0001), ("echo", None, 0.01, 0.005)],
            "driver delay 5.00 ms at the median, the others 100 µs; echo 10.0 ms, 5.00 ms",
            MACHINE,
        ),
        (
            [("failing_users", None, 0.75, 0.0), ("echo", None, 0.01, 0.005)],
            "75.0 % of its users had no line or no answer, of the others' 0.0 %; echo 10.0 ms, 5.00 ms",
            WAY,
        ),
    ],
)
def test_an_odd_node_is_one_sentence(
    tmp_path: Path, odd: list[tuple[str, str | None, float, float]], said: str, cause: str
) -> None:
    step = summarise(spread(tmp_path / "run")).last
    step.odd_nodes.extend(OddNode("n", figure, "interactive", work, *medians) for figure, work, *medians in odd)
    assert list(describe_odd_nodes(step)) == [f"n: {said}: {cause}?"]


def test_of_many_agents_those_that_stand_out_are_listed_and_all_are_folded(tmp_path: Path) -> None:
    nodes = [f"driver{number // 4}.example.org" for number in range(32)]
    step = summarise(spread(tmp_path / "run", nodes, settle=1, measure=3)).last
    some, folded = agents_parts(step)
    assert isinstance(some, Table)
    assert isinstance(folded, Folded)
    assert len(some.rows) <= 8
    (table,) = folded.parts
    assert isinstance(table, Table)
    assert [row[1] for row in table.rows] == nodes


def test_a_node_whose_record_breaks_off_is_named(tmp_path: Path) -> None:
    folder = spread(tmp_path / "run")
    change_rows(folder / "agent-1" / "series.jsonl", lambda row: row if row["start"] < 20 else None)
    (folder / "agent-1" / "agent.json").unlink()
    recorded = "recorded are 20.0 s by agent 1 on 10.77.0.3 and 60.0 s by another, of 60.0 s planned"
    assert recorded in describe_ending(summarise(folder))


def test_agents_of_one_machine_are_shown_as_ever(tmp_path: Path) -> None:
    (table,) = agents_parts(summarise(spread(tmp_path / "run", [None, None])).last)
    assert isinstance(table, Table)
    assert ("node" in table.heads, len(table.heads)) == (False, 7)


def test_names_of_nodes_reach_no_terminal_and_no_page_raw(tmp_path: Path) -> None:
    names = ["a\x1b[2J", "<script>alert(1)</script>", "c"]
    summary = summarise(spread(tmp_path / "run", names))
    write_page({"run": summary}, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for shown in (text(summary, colour=False, verbose=True), markdown(build_report(summary)), page):
        assert "\x1b" not in str(shown)
    assert "<script>alert" not in page
