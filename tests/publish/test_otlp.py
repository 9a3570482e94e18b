"""What a collector of OpenTelemetry is sent."""

import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from cuesta.errors import UsageError
from cuesta.publish import otlp
from cuesta.publish.instruments import DURATIONS, NUMBERS
from cuesta.publish.metrics import Metrics
from cuesta.publish.otlp import send_metrics
from cuesta.publish.otlp_settings import DEFAULT_INTERVAL, check, read_interval
from tests.daemons import free_port
from tests.publish.collecting import Collector, attributes, collecting, quantile
from tests.publish.observed import observe_run, seen, take

NEVER = "3600000"
"""Milliseconds: only the last metrics are sent."""


@pytest.fixture(autouse=True)
def _no_threads_left() -> Iterator[None]:
    yield
    for thread in threading.enumerate():
        if thread.name == "otlp":
            thread.join()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", NEVER)
        yield found


def refuse(text: str) -> None:
    pytest.fail(text)


def make_metrics() -> Metrics:
    metrics = Metrics("a run")
    durations = {"editors/keys/echo": [0.0, 0.01, 0.02, 0.5], "editors/save/response": [0.1]}
    take(metrics, seen(durations, doing={"keying": 3}))
    return metrics


def test_quantiles_of_a_run_are_within_two_percent_of_the_summary(collector: Collector, tmp_path: Path) -> None:
    metrics = Metrics("a run")
    with send_metrics(metrics, refuse):
        summary = observe_run(tmp_path, partial(take, metrics)).json()
    sent = collector.metrics()
    for figure in ("echo", "response", "first_response", "lateness"):
        (point,) = sent[f"cuesta.{figure}.duration"].exponential_histogram.data_points
        true = summary[figure]
        assert (point.count, point.scale) == (true["count"], 6)
        assert point.zero_count + sum(point.positive.bucket_counts) == point.count
        assert (point.min, point.max) == pytest.approx((true["min"], true["max"]), rel=0.001)
        for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99)):
            assert quantile(point, share) == pytest.approx(true[name], rel=0.02), (figure, name)


def test_metrics_have_names_units_and_attributes(collector: Collector) -> None:
    metrics = make_metrics()
    metrics.mark("here")
    with send_metrics(metrics, refuse):
        pass
    sent = collector.metrics()
    declared = {each.name: each for each in (*DURATIONS, *NUMBERS)}
    assert {name: metric.unit for name, metric in sent.items()} == {name: declared[name].unit for name in sent}
    (of_keys,) = sent["cuesta.echo.duration"].exponential_histogram.data_points
    (of_saves,) = sent["cuesta.response.duration"].exponential_histogram.data_points
    assert attributes(of_keys) == {"cuesta.group": "editors"}
    assert attributes(of_saves) == {"cuesta.group": "editors", "cuesta.transaction": "save"}
    assert (of_keys.count, of_keys.zero_count) == (4, 1)
    assert of_keys.sum == pytest.approx(0.53, rel=0.001)
    (errors,) = sent["cuesta.errors"].sum.data_points
    assert (attributes(errors), errors.as_int) == ({"error.type": "refused"}, 2)
    assert sent["cuesta.errors"].sum.is_monotonic
    cumulative = 2
    assert sent["cuesta.errors"].sum.aggregation_temporality == cumulative
    assert sent["cuesta.echo.duration"].exponential_histogram.aggregation_temporality == cumulative
    assert 0 < errors.start_time_unix_nano == of_keys.start_time_unix_nano < of_keys.time_unix_nano
    marks = [attributes(point) for point in sent["cuesta.event.timestamp"].gauge.data_points]
    assert {"cuesta.event": "mark", "cuesta.note": "here"} in marks


def test_the_resource_is_cuestas_own_where_no_variable_says_it(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    with send_metrics(make_metrics(), refuse):
        pass
    assert collector.resource().items() >= {"service.name": "cuesta", "cuesta.run.id": "a run"}.items()
    monkeypatch.setenv("OTEL_SERVICE_NAME", "login-nodes")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=lab")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=token")
    with send_metrics(make_metrics(), refuse):
        pass
    found = {"service.name": "login-nodes", "deployment.environment": "lab", "cuesta.run.id": "a run"}
    assert collector.resource().items() >= found.items()
    assert (collector.headers["content-encoding"], collector.headers["authorization"]) == ("gzip", "token")


def test_metrics_are_sent_at_intervals_and_at_the_end(collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "10")
    metrics = Metrics("a run")
    with send_metrics(metrics, refuse):
        collector.wait_for(3)
        take(metrics, seen({"editors/keys/echo": [0.1] * 7}))
    (point,) = collector.metrics()["cuesta.echo.duration"].exponential_histogram.data_points
    assert point.count == 7, "what came last is sent"


@pytest.mark.parametrize("is_there", [True, False])
def test_a_collector_that_takes_nothing_is_told_once_and_the_run_goes_on(
    is_there: bool, collector: Collector, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    told, has_told = list[str](), threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        has_told.set()

    collector.answers = 400
    monkeypatch.setenv("OTEL_METRIC_EXPORT_INTERVAL", "1")
    place = collector.url if is_there else f"http://127.0.0.1:{free_port()}"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", place.replace("//", "//me:secret@"))
    with send_metrics(make_metrics(), tell):
        assert has_told.wait(60)
        if is_there:
            collector.wait_for(collector.count + 2)
    (sentence,) = told
    why = "Failed to export metrics batch code: 400, reason: Bad Request" if is_there else "Connection refused"
    place = place.removeprefix("http://")
    assert sentence == f"--otlp: {place} has not taken metrics: {why}; it is tried again, the run goes on"
    assert capfd.readouterr() == ("", ""), "the SDK itself prints nothing"


def test_a_variable_that_cannot_be_read_is_told_without_its_secret(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "secret")
    told = list[str]()
    with send_metrics(make_metrics(), told.append):
        pass
    assert len(told) == 2
    assert "headers are not NAME=VALUE" in "".join(told)
    assert "'soon'" in "".join(told)
    assert "secret" not in "".join(told)
    assert collector.count == 1, "what can be sent is sent"


def test_a_collector_that_does_not_answer_holds_up_no_end(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp, "PATIENCE", 0.05)
    collector.hold.clear()
    with send_metrics(make_metrics(), lambda _: None):
        pass
    assert not collector.hold.is_set(), "the block ended while the collector had not answered"


def test_without_the_package_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    check({})
    for name in [name for name in sys.modules if name.startswith("opentelemetry.exporter")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr("importlib.machinery.PathFinder.find_spec", lambda *_: None)
    with pytest.raises(UsageError, match="not installed") as raised:
        check({})
    assert raised.value.remedy == "pip install 'cuesta[otlp]'"


def test_settings_that_cannot_be_kept_are_refused() -> None:
    assert read_interval({}) == DEFAULT_INTERVAL / 1000
    assert read_interval({"OTEL_METRIC_EXPORT_INTERVAL": "250"}) == 0.25
    for text in ("0", "-1", "1s", "1e3"):
        with pytest.raises(UsageError, match="OTEL_METRIC_EXPORT_INTERVAL"):
            check({"OTEL_METRIC_EXPORT_INTERVAL": text})
    with pytest.raises(UsageError, match="http/protobuf only"):
        check({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"})
    check({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/protobuf"})
