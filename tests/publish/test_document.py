"""docs/dashboards.md: its tables are those of the code, and Prometheus takes its configuration."""

import gzip
import re
import subprocess
from pathlib import Path

from prometheus_client import generate_latest

from cuesta.publish.buckets import EDGES
from cuesta.publish.document import renew_document
from cuesta.publish.metrics import Metrics
from cuesta.publish.prometheus import make_registry
from tests.daemons import needed
from tests.publish.observed import seen, take

PAGE = Path(__file__).parents[2] / "docs/dashboards.md"


def test_the_page_holds_each_metric_and_each_field() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert renew_document(text) == text, "renew it: ./scripts/docs"
    assert "| `cuesta_echo_duration_seconds` | `cuesta.echo.duration` | `s` | histogram |" in text
    assert "| `waiting.longest` |" in text


def test_prometheus_takes_the_configuration(tmp_path: Path) -> None:
    (configuration,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(configuration)
    subprocess.run([needed("promtool"), "check", "config", tmp_path / "prometheus.yml"], check=True)


def test_what_a_scrape_weighs_is_what_the_page_says() -> None:
    series = {f"g/keys/{figure}": [0.001] * 9 for figure in ("echo", "lateness")} | {
        f"g/{name}/{figure}": [0.1] * 9
        for name in ("open", "edit", "save")
        for figure in ("response", "first_response")
    }
    metrics = Metrics("a run")
    take(metrics, seen(series))
    assert len(metrics.durations()) == 8
    said = re.search(r"takes (\d+) buckets .*? is about (\d+) KB", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert said
    assert int(said[1]) == len(EDGES)
    assert len(gzip.compress(generate_latest(make_registry(metrics)))) < int(said[2]) * 1000
