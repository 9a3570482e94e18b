"""Pages in a real Chromium: on a desktop, in dark mode, on a phone and on paper."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from cuesta.private_files import replace_private
from cuesta.report import form_page
from cuesta.report.several import write_page
from cuesta.report.systems import write_systems
from tests.browser import Browser, Tab, chromium, tab
from tests.report import made_up
from tests.report.test_form import record as certification
from tests.report.test_systems import record as of_system

ALONE = [
    made_up.good,
    made_up.sampled,
    made_up.watched,
    made_up.followed,
    made_up.bad,
    made_up.sweep,
    made_up.search,
    made_up.cut_off,
    made_up.never_began,
    made_up.many_classes,
    made_up.batching,
]
SEVERAL = "several"
SETTINGS = {"kernel.sched_a_setting_with_a_long_name": "1", "command line": "BOOT_IMAGE=/vmlinuz-6.1.0 " + "x" * 120}
RAW = {f"run-{number}/agent-0/histograms.hlog": "0123456789abcdef" * 4 for number in range(1, 6)}
FORMS = ["certified", "observed", "systems"]
PLACES = [(1100, "light", "screen"), (1100, "dark", "screen"), (390, "light", "screen"), (720, "dark", "print")]

SEEN = "(text => text.textContent && text.getAttribute('opacity') !== '0')"
"""A label that has no room is drawn invisible."""
OVERLAPS = """
[...document.querySelectorAll('figure')].flatMap(figure => {
  const shown = [...figure.querySelectorAll('svg text')].filter(SEEN)
    .map(text => [text.textContent, text.getBoundingClientRect()]);
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  return shown.flatMap(([one, a], number) =>
    shown.slice(number + 1).filter(([_, b]) => meet(a, b)).map(([other]) => `${one} / ${other}`));
})
"""
CUT = """
[...document.querySelectorAll('figure svg')].flatMap(svg => {
  const all = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].filter(SEEN).filter(text => {
    const own = text.getBoundingClientRect();
    return own.left < all.left - 2 || own.right > all.right + 2 || own.top < all.top - 2 || own.bottom > all.bottom + 2;
  }).map(text => text.textContent);
})
"""
PLOTS = """
[...document.querySelectorAll('figure')].map(figure => [
  figure.querySelector('figcaption').textContent,
  figure.querySelectorAll('svg text').length,
  [...figure.querySelectorAll('svg .mark-line path, svg .mark-rect path, svg .mark-area path, svg .mark-symbol path')]
    .filter(mark => mark.getBoundingClientRect().width > 1).length,
])
"""
BEYOND = """
[...document.body.querySelectorAll('*')].filter(each => {
  const own = each.getBoundingClientRect();
  const scrolls = each.closest('.wide') && !each.matches('.wide');
  return !scrolls && !each.closest('svg') && each.checkVisibility({contentVisibilityAuto: true}) &&
    (own.right > document.documentElement.clientWidth + 1 || own.left < -1);
}).map(each => `${each.tagName}: ${each.textContent.slice(0, 40)}`)
"""
"""Elements beyond the edge of the page; tables scroll within their own."""
SCROLLING = """
[...document.querySelectorAll('.wide')].filter(each => each.scrollWidth > each.clientWidth + 1)
  .map(each => each.textContent.replace(/\\s+/g, ' ').slice(0, 60))
"""
UNFOLD = "document.querySelectorAll('details').forEach(each => { each.open = true })"
SHOWN = """
[...document.querySelectorAll('details:not(.values)')].filter(each => {
  const [first] = [...each.children].filter(part => part.tagName !== 'SUMMARY');
  return first.getBoundingClientRect().bottom <= each.getBoundingClientRect().bottom + 1 &&
    getComputedStyle(each, '::details-content').contentVisibility === 'visible';
}).length
"""
"""How many of those that are folded show what is in them."""
BRIGHTNESS = """
(name => { const [r, g, b] = getComputedStyle(document.body)[name].match(/[0-9.]+/g).map(Number);
  return (r + g + b) / 765; })
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Tab]:
    with tab(browser) as opened:
        yield opened


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Make every page once."""
    top = tmp_path_factory.mktemp("pages")
    runs = {make.__name__: summarise(make(top / make.__name__)) for make in ALONE}
    files = {name: top / name / "report.html" for name in runs}
    for name, run in runs.items():
        write_page({name: run}, files[name])
    write_page(runs, top / "report.html")
    return files | {SEVERAL: top / "report.html"} | forms(top)


def forms(top: Path) -> dict[str, Path]:
    """Make the pages of certifications, as `cuesta certify` and `cuesta report` do."""
    files = {name: top / f"{name}.html" for name in FORMS}
    certified = certification(5, system="release 3.0.5 of a system with a long name", settings=SETTINGS)
    replace_private(files["certified"], form_page.build_page(certified.model_copy(update={"raw": RAW}), top))
    replace_private(files["observed"], form_page.build_page(certification(1), top))
    names = ("MR7", "a system whose name is long, of the third release", "a-folder/whose-path/has-no-blanks-3.0.5")
    write_systems({name: (top / name, of_system(name)) for name in names}, files["systems"])
    return files


EVERY = [*(make.__name__ for make in ALONE), SEVERAL, *FORMS]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place)))
@pytest.mark.parametrize("name", EVERY)
def test_a_page_is_complete_and_self_contained(
    page: Tab, pages: dict[str, Path], name: str, place: tuple[int, str, str]
) -> None:
    """First as it opens, then with all sections unfolded."""
    width, scheme, media = place
    page.look(pages[name], width, scheme, media)
    for _ in range(2):
        assert page.value("document.documentElement.scrollWidth") <= width
        assert page.value(BEYOND) == []
        assert page.value(OVERLAPS.replace("SEEN", SEEN)) == []
        assert page.value(CUT.replace("SEEN", SEEN)) == []
        page.value(UNFOLD)
    assert [url for url in page.requests if not url.startswith("data:")] == [pages[name].as_uri()]
    assert page.said == []
    for title, texts, marks in page.value(PLOTS):
        assert texts > 3, f"{title}: no labels"
        assert marks > 0, f"{title}: nothing is drawn"
    ink, paper = (page.value(f"{BRIGHTNESS.strip()}('{colour}')") for colour in ("color", "backgroundColor"))
    assert (ink > 0.8 and paper < 0.2) if (scheme, media) == ("dark", "screen") else (ink < 0.2 and paper > 0.9)


@pytest.mark.parametrize("name", EVERY)
def test_folded_sections_are_printed_open(page: Tab, pages: dict[str, Path], name: str) -> None:
    """On the screen sections stay folded until they are clicked; on paper they cannot be clicked."""
    page.look(pages[name], 1100)
    folded = page.value("document.querySelectorAll('details:not(.values)').length")
    if not folded:
        assert name == "systems", "every other page has a folded section"
        return
    assert page.value(SHOWN) == 0
    assert (closed := page_count(page.printed())) >= 1
    page.value(UNFOLD)
    assert closed == page_count(page.printed()), "as many printed pages as with all sections unfolded by hand"
    page.look(pages[name], 720, media="print")
    assert page.value(SHOWN) == folded


def page_count(pdf: bytes) -> int:
    """Count the pages of a PDF."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("name", EVERY)
def test_no_table_is_cut_off_on_paper(page: Tab, pages: dict[str, Path], name: str) -> None:
    page.look(pages[name], 720, media="print")
    assert page.value(SCROLLING) == []


def test_part_iv_of_a_form_is_read_on_a_telephone_without_scrolling(page: Tab, pages: dict[str, Path]) -> None:
    page.look(pages["certified"], 390)
    assert not [head for head in page.value(SCROLLING) if "total" in head]


PLACE = """
(title => {
  const figure = [...document.querySelectorAll('figure')].find(each => each.textContent.trim().startsWith(title));
  figure.scrollIntoView({block: 'center'});
  const found = figure.querySelector('svg .role-legend-label text') || figure;
  const [plot, name] = [figure.querySelector('svg'), found].map(each => each.getBoundingClientRect());
  return [plot.left + plot.width / 2, plot.top + plot.height / 2, name.left + 4, name.top + name.height / 2];
})
"""
TOOLTIP = """
new Promise(resolve => setTimeout(() => {
  const shown = document.querySelector('#vg-tooltip-element.visible');
  resolve(shown ? shown.innerText.replace(/\\s+/g, ' ') : '');
}, 200))
"""
FADED = """
new Promise(resolve => setTimeout(() => {
  resolve([...document.querySelectorAll('figure .mark-line path')].map(each => each.getAttribute('opacity')));
}, 200))
"""


def test_the_values_at_the_cursor_are_shown(page: Tab, pages: dict[str, Path]) -> None:
    page.look(pages["good"], 1100)
    x, y, *_ = page.value(f"{PLACE.strip()}('Keystroke echo by percentile')")
    assert page.value(TOOLTIP) == ""
    page.point(x, y)
    page.point(x + 3, y)
    assert re.fullmatch(
        r"percentile p9\d(\.\d)? since due 2(\.\d+)? ms since sent 2(\.\d+)? ms", page.value(TOOLTIP).strip()
    )


def test_a_click_on_a_name_in_the_legend_shows_it_alone(page: Tab, pages: dict[str, Path]) -> None:
    page.look(pages["good"], 1100)
    *_, x, y = page.value(f"{PLACE.strip()}('Keystroke echo by percentile')")
    assert "0.07" not in page.value(FADED)
    page.point(x, y, click=True)
    assert page.value(FADED).count("0.07") == 1
    page.point(x, y, click=True)
    assert "0.07" not in page.value(FADED)


VALUES = """
(title => {
  const figure = [...document.querySelectorAll('figure')].find(each => each.textContent.trim().startsWith(title));
  figure.querySelector('details.values').open = true;
  const rows = () => [...figure.querySelectorAll('tr')].map(row => row.innerText);
  return new Promise(resolve => {
    const look = () => rows().length ? resolve(rows()) : setTimeout(look, 10);
    look();
  });
})
"""


def test_a_table_has_the_values_of_a_plot(page: Tab, pages: dict[str, Path]) -> None:
    page.look(pages["good"], 1100)
    assert page.value("document.querySelectorAll('figure').length") == page.value(
        "document.querySelectorAll('figure > details.values').length"
    )
    head, first, *rest = page.value(f"{VALUES.strip()}('Keystroke echo by percentile')")
    assert head.split("\t") == ["percentile", "since due", "since sent"]
    assert re.fullmatch(r"p0\t1(\.\d+)? ms\t1(\.\d+)? ms", first)
    assert len(rest) > 10


def test_the_check_detects_requests_and_messages_of_a_page(page: Tab, tmp_path: Path) -> None:
    """This shows that the test above can fail."""
    file = tmp_path / "bad.html"
    file.write_text('<img src="http://127.0.0.1:9/x.png"/><script>console.error("oops"); missing()</script>')
    page.look(file, 1100)
    assert "http://127.0.0.1:9/x.png" in page.requests
    assert any("oops" in text for text in page.said)
    assert any("missing is not defined" in text for text in page.said)


def test_the_check_detects_overlapping_plots(page: Tab, tmp_path: Path) -> None:
    file = tmp_path / "overlap.html"
    texts = "".join(f'<text x="{x}" y="20">label</text>' for x in (0, 20, 90))
    file.write_text(f'<figure><svg viewBox="0 0 100 40">{texts}</svg></figure>')
    page.look(file, 400)
    assert page.value(OVERLAPS.replace("SEEN", SEEN)) == ["label / label"]
    assert page.value(CUT.replace("SEEN", SEEN)) == ["label"]
