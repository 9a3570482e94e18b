"""What Prometheus scrapes of a run: an application for `/metrics` (ASGI).

The official client writes the text, compresses it and negotiates OpenMetrics. It cannot write native histograms as
Prometheus asks for them: `native_histograms` does, for a scraper that prefers protocol buffers.
"""

import gzip
from collections.abc import Awaitable, Callable, Coroutine, Iterator, MutableMapping
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.asgi import make_asgi_app
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from cuesta.publish import native_histograms
from cuesta.publish.buckets import EDGES, cumulative_counts, total_seconds
from cuesta.publish.instruments import DURATIONS, NUMBERS, describe, label, prometheus_name
from cuesta.publish.metrics import Metrics

LE = (*(f"{edge:.7g}" for edge in EDGES), "+Inf")
"""The edges of buckets as labels have them."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Coroutine[Any, Any, None]]


class MetricsApp:
    """Answers each GET with the metrics as they are then."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._as_text: App = make_asgi_app(make_registry(metrics))

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one."""
        headers = dict(scope["headers"])
        if not native_histograms.is_asked_for(headers.get(b"accept", b"")):
            await self._as_text(scope, receive, send)
            return
        body, about = native_histograms.encode(self._metrics), [(b"content-type", native_histograms.CONTENT_TYPE)]
        if b"gzip" in headers.get(b"accept-encoding", b""):
            body, about = gzip.compress(body, 1), [*about, (b"content-encoding", b"gzip")]
        await send({"type": "http.response.start", "status": 200, "headers": about})
        await send({"type": "http.response.body", "body": body})


def make_registry(metrics: Metrics) -> CollectorRegistry:
    """What the client writes: the metrics as they are when it is asked."""
    registry = CollectorRegistry(target_info={"cuesta_run_id": metrics.run_id})
    registry.register(RunCollector(metrics))
    return registry


class RunCollector(Collector):
    """The metrics of a run, read when they are scraped."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def describe(self) -> list[Metric]:
        """Nothing: names are known when there are values."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from _durations(self._metrics)
        for number in NUMBERS:
            family = CounterMetricFamily if number.is_count else GaugeMetricFamily
            values = family(prometheus_name(number), describe(number), labels=[*map(label, number.attributes)])
            for attributes, value in number.read(self._metrics):
                values.add_metric(attributes, value)
            yield values


def _durations(metrics: Metrics) -> Iterator[Metric]:
    durations = metrics.durations()
    for instrument in DURATIONS:
        family = HistogramMetricFamily(
            prometheus_name(instrument), describe(instrument), labels=[*map(label, instrument.attributes)]
        )
        for which, histogram in durations.items():
            if which.figure == instrument.figure:
                buckets = [*zip(LE, cumulative_counts(histogram), strict=True)]
                family.add_metric([which.group, which.transaction], buckets, total_seconds(histogram))
        yield family
