"""The application for Prometheus, asked without a server."""

import asyncio
import gzip
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from cuesta.publish.instruments import DURATIONS, NUMBERS, prometheus_name
from cuesta.publish.metrics import Metrics
from cuesta.publish.native_histograms import CONTENT_TYPE
from cuesta.publish.prometheus import MetricsApp
from tests.publish.observed import seen, take

OPENMETRICS = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
PROTOBUF = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,text/plain;q=0.5"


@pytest.fixture
def metrics() -> Metrics:
    metrics = Metrics('run "1"')
    durations = {"editors/keys/echo": [0.01, 0.02, 0.5], 'editors/a "b\\c/response': [0.0, 200.0]}
    take(metrics, seen(durations, doing={"keying": 3}))
    metrics.mark('say "here"\n')
    return metrics


def ask(metrics: Metrics, accept: str = "", encoding: str = "") -> tuple[dict[str, str], bytes]:
    """The headers and the body of an answer."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"accept", accept.encode()), (b"accept-encoding", encoding.encode())]
    scope = {"type": "http", "method": "GET", "query_string": b"", "headers": headers}
    asyncio.run(MetricsApp(metrics)(scope, receive, send))
    start, body = sent
    assert start["status"] == 200
    return {name.decode().lower(): value.decode() for name, value in start["headers"]}, body["body"]


@pytest.mark.parametrize(("accept", "read"), [("", read_text), (OPENMETRICS, read_openmetrics)])
def test_names_and_values_are_read_by_the_official_parsers(metrics: Metrics, accept: str, read: Any) -> None:
    _, body = ask(metrics, accept)
    samples = [sample for family in read(body.decode()) for sample in family.samples]
    values = {(sample.name, *sorted(sample.labels.values())): sample.value for sample in samples}
    assert values["target_info", 'run "1"'] == 1
    assert values["cuesta_echo_duration_seconds_count", "", "editors"] == 3
    assert values["cuesta_echo_duration_seconds_sum", "", "editors"] == pytest.approx(0.53, rel=0.001)
    assert values["cuesta_response_duration_seconds_bucket", "+Inf", 'a "b\\c', "editors"] == 2
    assert values["cuesta_errors_total", "refused"] == 2
    assert values["cuesta_users_by_activity", "keying"] == 3
    assert ("cuesta_event_timestamp_seconds", "mark", 'say "here"�') in values


def test_each_metric_has_its_name_and_its_meaning(metrics: Metrics) -> None:
    _, body = ask(metrics)
    explained = {row.split()[2] for row in body.decode().splitlines() if row.startswith("# HELP")}
    assert explained == {prometheus_name(each) for each in (*DURATIONS, *NUMBERS)} | {"target_info"}
    assert {"cuesta_echo_duration_seconds", "cuesta_driver_cpu_ratio", "cuesta_keys_total"} <= explained


def test_before_the_first_snapshot_there_is_an_answer() -> None:
    _, body = ask(Metrics("run"))
    assert b"cuesta_keys_total 0.0\n" in body
    assert b"\ncuesta_users " not in body


@pytest.mark.parametrize(("accept", "kind"), [("", "text/plain"), (OPENMETRICS, "openmetrics"), (PROTOBUF, "protobuf")])
def test_what_is_sent_is_what_the_scraper_prefers_compressed_if_it_may_be(
    metrics: Metrics, accept: str, kind: str
) -> None:
    about, body = ask(metrics, accept)
    compressed, packed = ask(metrics, accept, "gzip")
    assert kind in about["content-type"]
    assert "content-encoding" not in about
    assert compressed["content-encoding"] == "gzip"
    assert gzip.decompress(packed) == body


def test_protocol_buffers_are_not_for_those_who_like_them_less(metrics: Metrics) -> None:
    about, _ = ask(metrics, "text/plain;q=1.0," + PROTOBUF)
    assert about["content-type"] != CONTENT_TYPE.decode()
