"""The pages in a real Chromium: on a desktop, in dark mode and on a telephone, by mouse and by keyboard."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.browser import Browser, Tab, chromium, tab
from tests.report.test_page import BEYOND, BRIGHTNESS, PLOTS
from tests.site.folders import HOSTILE, make_folders
from tests.site.served import Served, served_folders
from tests.site.test_pages import id_of

PLACES = [(1100, "light"), (1100, "dark"), (390, "light")]
NAMES = {
    "list": "/",
    "run": "/run/{good}",
    "hostile": "/run/{hostile}",
    "several": "/side-by-side?id={good}&id={sampled}",
    "compared": "/compare?id={same}&id={same-again}",
    "watched": "/run/{good}/watch/user-0",
    "hostile, watched": "/run/{hostile}/watch/user-0",
    "systems": "/systems",
    "ledger": "/ledger?question=steps",
}
READY = """
new Promise(resolve => {
  const look = () => document.querySelector('.player').dataset.ready ? resolve(true) : setTimeout(look, 10);
  look();
})
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    top = make_folders(tmp_path_factory.mktemp("folders"))
    with served_folders(tmp_path_factory.mktemp("ledger"), top) as server:
        yield server


@pytest.fixture(scope="module")
def ids(site: Served) -> dict[str, str]:
    names = ("good", "sampled", "same", "same-again")
    return {"hostile": id_of(site, "hostile-script")} | {name: id_of(site, name) for name in names}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory, site: Served) -> Iterator[Browser]:
    """A browser in which the address with the token was opened."""
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        with tab(running) as first:
            first.enter(site.access.address)
            assert first.value("location.href") == f"{site.origin}/"
            assert first.said == []
        yield running


@pytest.fixture
def page(browser: Browser) -> Iterator[Tab]:
    with tab(browser) as opened:
        yield opened


@pytest.mark.parametrize("place", PLACES, ids=lambda place: "-".join(map(str, place)))
@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_whole_and_requests_nothing_elsewhere(
    page: Tab, site: Served, ids: dict[str, str], name: str, place: tuple[int, str]
) -> None:
    width, scheme = place
    page.open(site.origin + NAMES[name].format_map(ids), width, scheme)
    if "watched" in name:
        assert page.value(READY)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(BEYOND.replace(".wide", ":is(.wide, .screen, .hidden, .skip)")) == []
    assert page.said == []
    assert {re.match(r"[a-z]+:(//[^/]*)?", url)[0] for url in page.requests} <= {site.origin, "data:"}  # type: ignore[index]
    drawn = page.value(PLOTS)
    assert (len(drawn) > 0) == (name not in {"list", "compared", "systems", "ledger"})
    assert all(texts > 3 and marks > 0 for _, texts, marks in drawn), drawn
    ink, paper = (page.value(f"{BRIGHTNESS.strip()}('{colour}')") for colour in ("color", "backgroundColor"))
    assert (ink > 0.8 and paper < 0.2) if scheme == "dark" else (ink < 0.2 and paper > 0.9)
    landmarks = page.value("['header', 'nav', 'main', 'h1'].map(each => document.querySelectorAll(each).length)")
    assert landmarks == [1, 1, 1, 1]


def test_the_token_is_taken_out_of_the_address_and_needed_once(
    tmp_path: Path, site: Served, ids: dict[str, str]
) -> None:
    run = f"/run/{ids['good']}"
    with chromium(tmp_path) as browser, tab(browser) as page:
        page.open(site.origin + run)
        assert page.value("document.body.innerText").count("Open the address that was printed") == 1
        page.call("Page.navigate", url=f"{site.origin}/#token=wrong")
        page.wait_for_load()
        assert "this is not the token" in page.value(
            "new Promise(resolve => { const look = () => { const said = document.getElementById('entry').textContent; "
            "said.includes('not the token') ? resolve(said) : setTimeout(look, 10); }; look(); })"
        )
        page.enter(site.access.address_of(run))
        assert page.value("[location.pathname + location.hash, history.length < 6]") == [run, True]
        assert page.value("document.cookie") == ""
        page.open(site.origin + "/")
        assert page.value("document.querySelector('h1').textContent") == "Runs"


def test_runs_are_chosen_by_keyboard(page: Tab, site: Served) -> None:
    page.open(site.origin + "/")
    states = "[...document.querySelectorAll('section:first-of-type button')].map(each => each.disabled)"
    assert page.value(states) == [True, True]
    for number, wanted in ((0, [True, True]), (1, [False, False]), (2, [False, True])):
        page.value(f"document.querySelectorAll('input[type=checkbox]')[{number}].focus()")
        page.press(" ")
        assert page.value(states) == wanted
    page.value("document.querySelector('button[formaction=\"/side-by-side\"]').focus()")
    page.press("Enter")
    page.wait_for_load()
    assert page.value("document.querySelector('h1').textContent") == "3 runs side by side"


def shown_at(page: Tab) -> tuple[float, str]:
    """The instant that the player shows, and the text of its screen."""
    wait = "new Promise(resolve => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 50))))"
    page.value(wait)
    time, text = page.value(
        "[document.getElementById('time').textContent, document.getElementById('screen').innerText]"
    )
    return float(time.removesuffix(" s")), text.replace("\N{NO-BREAK SPACE}", "").strip()


def test_a_session_is_played_beside_the_chart(page: Tab, site: Served, ids: dict[str, str]) -> None:
    page.open(f"{site.origin}/run/{ids['good']}/watch/user-0?at=1.5")
    assert page.value(READY)
    assert shown_at(page) == (1.5, f"red and blue\n{HOSTILE}")
    assert page.value("[...document.querySelectorAll('.screen .bold')].map(each => each.textContent)") == ["red"]
    assert (
        page.value("getComputedStyle(document.querySelectorAll('.screen .rows span')[2]).backgroundColor")
        == "rgb(1, 2, 3)"
    )
    box = "(() => { const b = document.querySelector('figure svg .background').getBoundingClientRect(); "
    x, y = page.value(box + "return [b.left + b.width * 10 / 32, b.top + b.height / 2]; })()")
    page.point(x, y, click=True)
    at, text = shown_at(page)
    assert 9 < at < 11, "the plot's axis is 32 s long"
    assert text.endswith("at five \N{CJK UNIFIED IDEOGRAPH-6F22}!")
    for key, wanted in (("ArrowRight", at + 1), ("ArrowLeft", at), ("End", 70.0), ("Home", 0.0)):
        page.press(key)
        assert shown_at(page)[0] == pytest.approx(wanted, abs=0.051)
    page.press("End")
    assert shown_at(page)[1] == "the end\nafter a minute"
    assert page.value("document.querySelectorAll('figure')[0].view.signal('position')") == pytest.approx(70.0)
    page.value("document.querySelector('.moments button').click()")
    moment = page.value("Number(document.querySelector('.moments button').dataset.at)")
    assert shown_at(page)[0] == pytest.approx(moment, abs=0.051)
    page.press("End")
    page.value("document.getElementById('read').click()")
    shown_at(page)
    assert "after a minute" in page.value("document.getElementById('text').textContent")
    assert page.said == []


def test_a_session_plays_and_stops_by_the_space_bar(page: Tab, site: Served, ids: dict[str, str]) -> None:
    page.open(f"{site.origin}/run/{ids['good']}/watch/user-0")
    assert page.value(READY)
    page.press(" ")
    moved = (
        "new Promise(resolve => { const look = () => parseFloat(document.getElementById('time').textContent) > 0.5 "
        "? resolve(document.getElementById('play').textContent) : setTimeout(look, 10); look(); })"
    )
    assert page.value(moved) == "Stop"
    page.press(" ")
    before = shown_at(page)
    assert page.value("document.getElementById('play').textContent") == "Play"
    assert shown_at(page) == before
