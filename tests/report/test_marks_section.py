"""Marks in text, Markdown and on the page; what watching cost stands under DRIVER."""

from pathlib import Path

from cuesta.analysis.summary import Summary, summarise
from cuesta.report.plots.over_time import plot_course
from cuesta.report.render import markdown
from cuesta.report.run_report import build_report, text
from cuesta.report.several import build_page
from tests.report import made_up
from tests.run_folder import write_rows

COST = "live view 0.80 %, page and exporters 1.4 % of a core"


def watched(tmp_path: Path) -> Summary:
    return summarise(made_up.watched(tmp_path / "run"))


def test_a_terminal_shows_the_first_marks_and_with_verbose_all(tmp_path: Path) -> None:
    summary = watched(tmp_path)
    brief, verbose = (text(summary, colour=False, verbose=each) for each in (False, True))
    assert "MARKS      0.0 s the first users; 12.0 s starts are held;" in brief
    assert "starts go on; and 2 more" in brief
    assert "deploy of v2" not in brief
    assert "deploy of v2" in verbose
    assert "  31.9 s  marked\n" in verbose
    assert f"watched by {COST}" in verbose


def test_a_first_screen_with_room_has_the_cost(tmp_path: Path) -> None:
    folder = made_up.without_limits(tmp_path / "run")
    begin, end = ({"at": at, "cpu": cpu} for at, cpu in ((0, 0.0), (10**9, 0.5)))
    write_rows(folder / "watchers.jsonl", [{"step": 0, "name": "live view", "begin": begin, "end": end}])
    brief = text(summarise(folder), colour=False)
    assert "watched by live view 50.0 % of a core" in brief
    assert "MARKS" not in brief


def test_markdown_and_page_have_a_table_and_the_cost(tmp_path: Path) -> None:
    summary = watched(tmp_path)
    report = markdown(build_report(summary))
    assert "| 12.0 s | starts are held |" in report
    assert "deploy of v2 &#60;b&#62;&#38;amp; &#96;more&#96; &#124; and on" in report
    assert f"- watched by: {COST}" in report
    page = build_page({"run": summary}, tmp_path)
    assert "deploy of v2 &lt;b&gt;&amp;amp; `more` | and on" in page
    assert "<b>&amp;" not in page
    assert COST in page


def test_every_plot_over_time_has_a_rule_at_each_mark_and_the_notes_that_have_room(tmp_path: Path) -> None:
    plots = list(plot_course(watched(tmp_path).recorded))
    assert len(plots) >= 5
    for plot in plots:
        rules, notes = (
            [layer["data"]["values"] for layer in plot.spec["layer"] if is_of_marks(layer, kind)]
            for kind in ("rule", "text")
        )
        assert [row["x"] for row in rules[0]] == [0.0, 12.0, 12.25, 20.0, 23.21, 31.9]
        assert [row["x"] for row in notes[0]] == [0.0, 12.0, 20.0, 23.21]


def is_of_marks(layer: dict[str, object], kind: str) -> bool:
    mark = layer["mark"]
    return isinstance(mark, dict) and mark["type"] == kind and "params" not in layer


def test_a_run_without_marks_has_neither_section_nor_rules(tmp_path: Path) -> None:
    summary = summarise(made_up.good(tmp_path / "run"))
    assert "MARKS" not in text(summary, colour=False, verbose=True)
    assert not [
        layer
        for plot in plot_course(summary.recorded)
        for layer in plot.spec["layer"]
        if layer["mark"]["type"] == "text"
    ]
