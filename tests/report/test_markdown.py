"""The report as Markdown, read by a parser that knows tables as GitHub does."""

import html
import json
import re
import shutil
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from cuesta.analysis.summary import Summary, summarise
from cuesta.report.several import markdown
from tests.report import made_up
from tests.run_folder import RunFolder

HOSTILE = "<b>a|b</b> `c` [d](http://e) @f #1 *g* _h_ \\| ![i](j)"


def parsed(text: str) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(text)


def runs(*folders: Path) -> dict[str, Summary]:
    return {folder.name: summarise(folder) for folder in folders}


def cells(tokens: list[Token]) -> list[str]:
    return [content.content for token, content in pairwise(tokens) if token.type == "td_open"]


@pytest.mark.parametrize(
    "make", [made_up.good, made_up.bad, made_up.sweep, made_up.search, made_up.cut_off, made_up.never_began]
)
def test_every_table_parses_as_a_table(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    text = markdown(runs(make(tmp_path / "run")))
    tables = text.count("\n| :--")
    assert [token.type for token in parsed(text)].count("table_open") == tables
    assert "\n\n\n" not in text
    assert len(text.splitlines()) < 60, "the Markdown must be short"


def test_validity_comes_first_and_limits_next(tmp_path: Path) -> None:
    text = markdown(runs(made_up.good(tmp_path / "run")))
    assert text.startswith("### ❌ made-up: VALID, limits not kept\n")
    assert "| ✅ kept | response.p95 &#60; 2s | 200 ms |" in text
    assert "| ❌ crossed |" in text
    assert text.index("| limit |") < text.index("| answer |")


def test_a_valid_run_whose_limits_were_kept_has_the_mark_of_a_good_one(tmp_path: Path) -> None:
    kept = RunFolder(tmp_path / "kept", limits=["response.p50 < 2s"]).write()
    crossed = RunFolder(tmp_path / "crossed", limits=["response.p50 < 1ms"]).write()
    assert markdown(runs(kept)).startswith("### ✅ made-up: VALID\n")
    assert "✅" not in markdown(runs(crossed))
    assert markdown(runs(kept, crossed)).startswith("### ❌ ")


def test_an_invalid_run_says_why_and_what_to_do(tmp_path: Path) -> None:
    text = markdown(runs(made_up.bad(tmp_path / "run")))
    assert text.startswith("### ❌ made-up: INVALID\n")
    assert "- the driver was busy: 95.0 % of its cores (allowed 80.0 %) → use fewer users" in text


def test_a_truncated_run_says_where_it_ends(tmp_path: Path) -> None:
    assert "**the record breaks off: recorded are 12.0 s of 32.0 s planned" in markdown(
        runs(made_up.cut_off(tmp_path / "run"))
    )


def test_a_run_of_which_an_agent_broke_off_says_how_far_each_got(tmp_path: Path) -> None:
    folder = made_up.cut_off(tmp_path / "run")
    shutil.copytree(RunFolder(tmp_path / "whole").write() / "agent-0", folder / "agent-1")
    text = markdown(runs(folder))
    assert "the record breaks off: recorded are 12.0 s by one agent and 32.0 s by another, of 32.0 s planned" in text


def test_foreign_names_are_plain_text(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", limits=["response{a, b/c}.p50 < 50ms"]).write()
    run = folder / "run.json"
    run.write_text(run.read_text().replace("made-up", HOSTILE.replace("\\", "\\\\")))
    tokens = parsed(markdown(runs(folder)))
    (heading,) = [content for token, content in pairwise(tokens) if token.type == "heading_open"]
    assert heading.children
    assert {child.type for child in heading.children} <= {"text", "text_special"}
    shown = "".join(child.content for child in heading.children)
    assert shown.replace("\u200b", "") == f"❌ {HOSTILE}: VALID, limits not kept"
    assert not re.search(r"@\w|#\d|://", shown)


def test_several_runs_stand_side_by_side(tmp_path: Path) -> None:
    text = markdown(runs(made_up.good(tmp_path / "base"), made_up.bad(tmp_path / "new")))
    assert "|  | base | new |" in text
    assert "| validity | ✅ VALID | ❌ INVALID |" in text
    assert "side by side is no comparison" in text
    assert "✅ 200 ms, kept" in cells(parsed(text))


def test_figures_of_the_host_have_base_tier_and_others(tmp_path: Path) -> None:
    """A percentage needs its base, its tier, and the share of other work on the CPUs."""
    summary = runs(made_up.sampled(tmp_path / "run"))
    text = html.unescape(markdown(summary))
    host = next(iter(summary.values())).last.host
    assert host.cpu
    assert "pid:4711, the built-in host's process; percent of 2 CPUs" in text
    assert f"%usr {host.cpu.usr:.1f}" in text
    assert "others 18.0" in text
    assert "host load 36.0 (plain)" in text
    assert "by cause: user 4.0, system calls 1.5" in text
    assert "(sampled)" in text
    assert "add up to" not in text, "a consistent account is not mentioned"


def test_an_account_that_does_not_close_says_so(tmp_path: Path) -> None:
    folder = made_up.good(tmp_path / "run")
    meters = folder / "meters.jsonl"
    rows = [json.loads(row) for row in meters.read_text().splitlines()]
    rows[-1]["sheet"]["closure"]["closes"] = False
    meters.write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = html.unescape(markdown(runs(folder)))
    assert text.count("add up to 99.8 % of the CPUs' time") == 1
    assert "CPU shares are uncertain by as much" in text


def test_a_host_without_meters_says_why(tmp_path: Path) -> None:
    text = markdown(runs(RunFolder(tmp_path / "run").write()))
    assert "host CPU: no meter data: this run recorded no meters" in html.unescape(text)
