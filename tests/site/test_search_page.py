"""The page of a search: a chart of its trials that grows, the interval, and the next load."""

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cuesta.live.about import About
from cuesta.live.followed import FollowedRun
from cuesta.records.observation import Observation, RunOfSeries, SearchState
from cuesta.site.live_page import LivePage
from tests.browser import chromium, tab
from tests.live.test_dashboard import SEARCH
from tests.site.served import served
from tests.snapshots import observation


def seen_with(search: SearchState, seconds: float) -> Observation:
    series = RunOfSeries(what="pair", number=3, of=12, name="base")
    return replace(observation(seconds=seconds), search=search, series=series)


@pytest.fixture
def run() -> FollowedRun:
    """A search after three trials."""
    followed = FollowedRun(About("<b>a search</b>"))
    followed.take(seen_with(replace(SEARCH, trials=SEARCH.trials[:3]), 1.0))
    return followed


def test_the_chart_of_a_search_grows(run: FollowedRun, tmp_path: Path) -> None:
    page = LivePage(run)

    async def go_on(_: Request) -> Response:
        run.take(seen_with(SEARCH, 2.0))
        page.renew()
        return Response()

    with (
        served([*page.routes(), Route("/go-on", go_on)]) as site,
        chromium(tmp_path / "profile") as browser,
        tab(browser) as opened,
    ):
        opened.enter(site.access.address)
        points = "document.querySelectorAll('#search svg .mark-symbol.role-mark path').length"
        opened.wait_for(f"{points} === 3")
        assert opened.value("document.getElementById('phase').textContent").startswith("pair 3 of 12 (base), ")
        said = opened.value("document.getElementById('next').textContent")
        assert said == ("Limit so far 43 users, from 24 to 50. Next: 44 users, the last trial there does not count.")
        assert opened.value("document.querySelector('h1').textContent") == "<b>a search</b>"
        opened.value("document.querySelector('#search details').open = true")
        assert site.enter().ask("/go-on").status == 200
        opened.wait_for("document.querySelectorAll('#search tbody tr').length === 4")
        newest = opened.value("document.querySelector('#search tbody tr').innerText").split("\t")
        assert newest[:2] == ["4", "44"]
        assert newest[4] == "does not count"
        assert opened.said == []
