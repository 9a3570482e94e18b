"""The report as one page."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuesta.analysis.summary import summarise
from cuesta.errors import CuestaError
from cuesta.ledger import raw_files
from cuesta.report import render
from cuesta.report.model import Part, Plot, Plots, Report, Section, Verdict
from cuesta.report.render import page as renderer
from cuesta.report.several import write_page
from tests.analysis.capacity.test_asymptotes import host_of
from tests.report.made_up import bad, good, sampled, sweep
from tests.run_folder import RunFolder

MAKES = pytest.mark.parametrize("make", [good, bad, sweep])
OWN = Path(render.__file__).parent
VOID = {"meta", "link", "br", "img", "input", "hr"}


def page(folder: Path) -> str:
    write_page({"run": summarise(folder)}, folder / "report.html")
    return (folder / "report.html").read_text(encoding="utf-8")


class Nesting(HTMLParser):
    """Checks that elements are properly nested and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, _: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@MAKES
def test_the_page_is_whole(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    text = page(make(tmp_path / "run"))
    nesting = Nesting()
    nesting.feed(text)
    assert nesting.open == []
    assert len(nesting.ids) == len(set(nesting.ids))
    assert len(text.encode()) < 1_000_000
    ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))  # the page must be well-formed XML too


@MAKES
def test_files_that_a_page_links_are_beside_it(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    """`test_page` checks in a browser that nothing is fetched."""
    folder = make(tmp_path / "run")
    text = page(folder)
    assert not re.search(r"\bsrc=|@import|<link", text.partition("<script>")[0])
    references = re.findall(r'href="([^"]*)"', text)
    assert references
    assert all((folder / unquote(reference)).is_file() for reference in references)


@MAKES
def test_plots_have_titles_and_the_colours_of_the_page(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    text = page(make(tmp_path / "run"))
    plots = re.findall(r'<figure class="plot">.*?</figure>', text, re.DOTALL)
    assert len(plots) >= 4
    used = set()
    for plot in plots:
        assert re.match(
            r'<figure class="plot">\n<figcaption>[^<]+</figcaption>\n<div role="img" aria-label="[^"]+">', plot
        )
        spec = re.search(r'<script type="application/json">(.*)</script>', plot)
        assert spec
        assert json.loads(spec[1])["layer"]
        used |= set(re.findall(r"var\((--[\w-]+)\)", spec[1]))
    dark = text.split("prefers-color-scheme: dark", 1)[1].split("\n}\n", 1)[0]
    assert used
    assert all(f"{name}:" in dark for name in used)


def with_parts(*parts: Part) -> str:
    return renderer.html(Report("A report", "", Verdict("VALID", "", True), sections=[Section("Parts", parts)]), Path())


def test_a_page_without_plots_has_no_plotting_library() -> None:
    assert len(with_parts()) < 10_000


def test_a_missing_plotting_library_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(renderer, "_own", lambda name: (tmp_path if name == "vega.js.gz" else OWN) / name)
    with pytest.raises(CuestaError, match=r"vega\.js\.gz is missing"):
        with_parts(Plots([Plot("one", {})]))


def test_validity_comes_first(tmp_path: Path) -> None:
    text = page(bad(tmp_path / "run"))
    assert text.index("INVALID") < text.index("<h2>")
    assert "the driver was busy: 95.0 % of its cores" in text
    assert "use fewer users" in text


def test_times_off_the_cpu_are_a_table_where_the_kernel_was_traced(tmp_path: Path) -> None:
    plain, traced = page(good(tmp_path / "plain")), page(sampled(tmp_path / "traced"))
    assert "off its CPU" not in plain
    table = re.search(r"<th[^>]*>off its CPU.*?</table>", traced, re.DOTALL)
    assert table
    words = re.sub(r"<[^>]*>", " ", table[0]).split()
    assert "asleep 300 28.8 s 80.0 ms 160 ms 320 ms 720 ms" in " ".join(words)
    assert "in a run queue 360 2.16 ms" in " ".join(words)


def test_foreign_names_are_escaped(tmp_path: Path) -> None:
    evil = [("%3Cb%3E/%3Cscript%3Ealert(1)%3C%2Fscript%3E&%22/response", [0.1] * 99)]
    folder = RunFolder(tmp_path / "run", histograms=[*evil, (evil[0][0] + "_from_sent", [0.1] * 99)]).write()
    run = folder / "run.json"
    run.write_text(run.read_text().replace("made-up", "<img onerror=x>"))
    text = page(folder)
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "&lt;script&gt;" in text
    ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>\n"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Every file of a run that has all kinds of records."""
    folder = sampled(tmp_path_factory.mktemp("whole") / "run")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in raw_files(folder)}


@settings(max_examples=6, deadline=None, derandomize=True)
@given(st.data())
def test_a_folder_truncated_anywhere_has_a_report(
    tmp_path_factory: pytest.TempPathFactory, whole: dict[str, bytes], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("cut") / "run"
    lacks = False
    for name, content in whole.items():
        size = data.draw(st.none() | st.integers(0, len(content)), label=name) if name != "run.json" else len(content)
        if size is not None:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content[:size])
        lacks |= name in FROM_WHICH_IS_TOLD and (size is None or content[:size].rstrip() != content.rstrip())
    text = page(folder)
    assert text.endswith("</html>\n")
    if lacks:
        assert "the record is cut off" in text


FROM_WHICH_IS_TOLD = ("agent-0/timeline.json", "agent-0/agent.json")
"""Files of which any cut is told; of others, one between two rows is not seen, for they grow row by row."""


def test_a_sweep_that_contradicts_its_line_says_so_in_a_notice(tmp_path: Path) -> None:
    host_of(tmp_path / "run", {1: (0.1, [1] * 60), 16: (1.0, [10, 12] * 30), 32: (0.8, [20, 22] * 30)})
    file = tmp_path / "report.html"
    write_page({"run": summarise(tmp_path / "run")}, file)
    assert '<p class="notice">CONTRADICTION: 21.0/s was measured with 32 users' in file.read_text()
