"""The report as Markdown, read by a parser that knows tables as GitHub does."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from cuesta.analysis import Summary, summarise
from cuesta.report import markdown
from tests.report import made_up
from tests.run_folder import RunFolder

HOSTILE = "<b>a|b</b> `c` [d](http://e) @f #1 *g* _h_ \\| ![i](j)"


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def runs(*folders: Path) -> dict[str, Summary]:
    return {folder.name: summarise(folder) for folder in folders}


def cells(tokens: list[Token]) -> list[str]:
    return [after.content for token, after in pairwise(tokens) if token.type == "td_open"]


@pytest.mark.parametrize("make", [made_up.good, made_up.bad, made_up.sweep, made_up.cut_off, made_up.never_began])
def test_every_table_is_one(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    text = markdown(runs(make(tmp_path / "run")))
    tables = text.count("\n| :--")
    assert [token.type for token in parsed(text)].count("table_open") == tables
    assert "\n\n\n" not in text
    assert len(text.splitlines()) < 60, "it is to be short"


def test_validity_comes_first_and_limits_next(tmp_path: Path) -> None:
    text = markdown(runs(made_up.good(tmp_path / "run")))
    assert text.startswith("### ✅ made-up: VALID\n")
    assert "| response.p99 &#60; 2s | 200 ms | ✅ |" in text
    assert "| 100 ms | ❌ |" in text
    assert text.index("| limit |") < text.index("| response, since due |")


def test_an_invalid_run_says_why_and_what_to_do(tmp_path: Path) -> None:
    text = markdown(runs(made_up.bad(tmp_path / "run")))
    assert text.startswith("### ❌ made-up: INVALID\n")
    assert "- the driver was busy: 95.0 % of its cores (allowed 80.0 %) → use fewer users" in text


def test_a_run_that_was_cut_off_says_how_far_it_got(tmp_path: Path) -> None:
    assert "**the record breaks off: recorded are 12.0 s of 32.0 s planned" in markdown(
        runs(made_up.cut_off(tmp_path / "run"))
    )


def test_names_from_outside_are_text(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", limits=["response{a, b/c}.p50 < 50ms"]).write()
    run = folder / "run.json"
    run.write_text(run.read_text().replace("made-up", HOSTILE.replace("\\", "\\\\")))
    tokens = parsed(markdown(runs(folder)))
    (heading,) = [after for token, after in pairwise(tokens) if token.type == "heading_open"]
    assert heading.children
    assert {child.type for child in heading.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in heading.children)
    assert shown.replace("\u200b", "") == f"✅ {HOSTILE}: VALID"
    assert not re.search(r"@\w|#\d|://", shown)


def test_several_runs_stand_side_by_side(tmp_path: Path) -> None:
    text = markdown(runs(made_up.good(tmp_path / "base"), made_up.bad(tmp_path / "new")))
    assert "|  | base | new |" in text
    assert "| validity | VALID | INVALID |" in text
    assert "side by side is no comparison" in text
    assert "200 ms, kept" in cells(parsed(text))
