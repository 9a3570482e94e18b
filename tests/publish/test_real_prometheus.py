"""A real Prometheus scrapes a real run: its quantiles are those of the run, and the dashboard's queries answer."""

import json
import math
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.publish.buckets import EDGES
from cuesta.publish.instruments import DURATIONS, NUMBERS, prometheus_name
from cuesta.publish.metrics import Metrics
from cuesta.publish.prometheus import MetricsApp
from cuesta.records.observation import Observation
from cuesta.records.rows import MeterRecord
from tests.meter_reports import traced
from tests.publish.observed import PASSES, USERS, observe_run, take
from tests.publish.scraping import Prometheus, Scraped, prometheus

DASHBOARD = json.loads((Path(__file__).parents[2] / "examples/grafana/cuesta.json").read_text(encoding="utf-8"))
PANELS = [target["expr"] for panel in DASHBOARD["panels"] for target in panel["targets"]]
ANNOTATIONS = [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
VARIABLES = {"$instance": "explicit", "$__rate_interval": "1m"}


METERS = MeterRecord(at=0, row=traced())


@dataclass(frozen=True)
class ScrapedRun:
    """A run, and a Prometheus that scrapes it from its start on: with explicit buckets, and native histograms."""

    summary: dict[str, Any]
    asked: Prometheus

    def answers(self, query: str, instance: str = "explicit") -> list[float]:
        """The values of all series."""
        at = self.asked.last_scrape(instance)
        return [float(series["value"][1]) for series in self.asked.query(query, at)]


@pytest.fixture(scope="module")
def scraped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ScrapedRun]:
    metrics = Metrics("a run")
    metrics.mark("the cache is cold")
    metrics.tell("trial 1: kept")
    apps = {"explicit": Scraped(MetricsApp(metrics)), "native": Scraped(MetricsApp(metrics), takes_native=True)}
    with prometheus(tmp_path_factory.mktemp("prometheus"), apps, "--enable-feature=native-histograms") as asked:
        apps["explicit"].wait_for(1)
        run = observe_run(tmp_path_factory.mktemp("run"), lambda seen: take(metrics, with_trouble(seen)))
        ended = time.time()
        for name, app in apps.items():
            while asked.last_scrape(name) <= ended:
                app.wait_for(1)
        yield ScrapedRun(run.json(), asked)


def with_trouble(observed: Observation) -> Observation:
    """The same of a host that fails now and then and is metered by cause; the real one may be too idle for that."""
    snapshots = [
        replace(each, totals=each.totals and replace(each.totals, errors={"refused": each.totals.keys // 10}))
        for each in observed.snapshots
    ]
    return replace(observed, snapshots=snapshots, meters=[METERS])


@pytest.mark.parametrize("figure", ["echo", "response", "first_response", "lateness"])
@pytest.mark.parametrize(
    ("instance", "series", "count"),
    [
        (
            "explicit",
            'sum by (le) (cuesta_{}_duration_seconds_bucket{{instance="explicit"}})',
            'sum(cuesta_{}_duration_seconds_count{{instance="explicit"}})',
        ),
        (
            "native",
            'sum(cuesta_{}_duration_seconds{{instance="native"}})',
            'histogram_count(sum(cuesta_{}_duration_seconds{{instance="native"}}))',
        ),
    ],
    ids=["explicit buckets", "native histograms"],
)
def test_quantiles_are_within_two_percent_of_the_summary(
    scraped: ScrapedRun, figure: str, instance: str, series: str, count: str
) -> None:
    true = scraped.summary[figure]
    assert scraped.answers(count.format(figure), instance) == [true["count"]]
    assert true["count"] >= USERS * PASSES
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
        (found,) = scraped.answers(f"histogram_quantile({share}, {series.format(figure)})", instance)
        if true[name] > EDGES[0]:
            assert found == pytest.approx(true[name], rel=0.02), name
        else:
            assert found <= EDGES[0], name


@pytest.mark.parametrize("query", [*PANELS, *ANNOTATIONS])
def test_each_query_of_the_dashboard_answers(query: str, scraped: ScrapedRun) -> None:
    for name, value in VARIABLES.items():
        query = query.replace(name, value)
    answers = scraped.answers(query)
    assert answers, query
    assert all(map(math.isfinite, answers)), query


def test_the_dashboard_asks_for_metrics_that_there_are() -> None:
    names = {prometheus_name(each) for each in (*DURATIONS, *NUMBERS)}
    asked = set(re.findall(r"\bcuesta_\w+(?=\{)", " ".join([*PANELS, *ANNOTATIONS])))
    assert {name.removesuffix("_bucket") for name in asked} <= names
    assert len(asked) > 12


def test_panels_of_the_dashboard_have_a_place_of_their_own() -> None:
    places = [panel["gridPos"] for panel in DASHBOARD["panels"]]
    cells = [
        (x, y)
        for place in places
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) == 23, "Grafana has 24 columns"
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(places)
