"""What Prometheus scrapes of a run (`--prometheus`)."""

from collections.abc import Iterator, Mapping
from itertools import accumulate

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from cuesta._native import Histogram
from cuesta.publish.metrics import Distribution, Metrics
from cuesta.live.view import View

FINEST, OCTAVES, PARTS = 1e-4, 20, 16
"""Buckets begin at 0.1 ms; each is 2^(1/16) − 1 = 4.4 % wide, so that a quantile is known within half of that."""
EDGES = [FINEST * 2 ** (number / PARTS) for number in range(OCTAVES * PARTS + 1)]
MEANINGS = {
    "echo": "from the instant at which a key was due to its echo",
    "lateness": "from the instant at which a key could be sent to its sending: the driver's own delay",
    "response": "from the instant at which the last key of a transaction was due to its whole answer",
    "first_response": "from the instant at which the last key of a transaction was due to the first character of its answer",
}


def registry_of(metrics: Metrics) -> CollectorRegistry:
    """What a scrape asks: the metrics as they are then."""
    registry = CollectorRegistry()
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
        yield from _durations(self._metrics.distributions())
        counts = self._metrics.counts()
        yield CounterMetricFamily("cuesta_transactions", "Transactions completed.", counts.transactions)
        yield CounterMetricFamily("cuesta_keys", "Keys sent.", counts.keys)
        characters = CounterMetricFamily("cuesta_characters", "Characters typed and shown.", labels=["direction"])
        errors = CounterMetricFamily("cuesta_errors", "Failures of the host or the line.", labels=["error_type"])
        for direction, count in counts.characters.items():
            characters.add_metric([direction], count)
        for name, count in counts.errors.items():
            errors.add_metric([name], count)
        yield from (characters, errors)
        if self._metrics.view:
            yield from _state(self._metrics.view)


def _durations(distributions: Mapping[Distribution, Histogram]) -> Iterator[Metric]:
    labels = ["cuesta_group", "cuesta_transaction"]
    for figure, meaning in MEANINGS.items():
        of_figure = {which: histogram for which, histogram in distributions.items() if which.figure == figure}
        family = HistogramMetricFamily(f"cuesta_{figure}_duration_seconds", f"Time {meaning}.", labels=labels)
        for which, histogram in of_figure.items():
            values = [which.group, which.transaction or ""]
            family.add_metric(values, cumulative_buckets(histogram), histogram.mean * histogram.count)
        yield family


def cumulative_buckets(histogram: Histogram) -> list[tuple[str, float]]:
    """How many values are at most each of EDGES, and all."""
    counts = [0] * (len(EDGES) + 1)
    number = 0
    for edge, count in histogram.buckets():
        while number < len(EDGES) and EDGES[number] < edge:
            number += 1
        counts[number] += count
    edges = [*(f"{edge:.6g}" for edge in EDGES), "+Inf"]
    return list(zip(edges, map(float, accumulate(counts)), strict=True))


def _state(view: View) -> Iterator[Metric]:
    """How things stand now."""
    yield GaugeMetricFamily("cuesta_users", "Users with a line.", view.users)
    doing = GaugeMetricFamily("cuesta_users_doing", "Users by what they do.", labels=["cuesta_activity"])
    for name, number in view.doing.items():
        doing.add_metric([name], number)
    yield doing
    yield GaugeMetricFamily("cuesta_users_waiting_longest_seconds", "The longest wait now.", view.longest)
    yield GaugeMetricFamily("cuesta_step", "Number of the load step or the trial, from 0.", view.step)
    yield GaugeMetricFamily("cuesta_driver_cpu_ratio", "CPU time of the driver, of one core.", view.driver_cpu)
    host = GaugeMetricFamily("cuesta_host_cpu_ratio", "Use of the host's CPUs.", labels=["cuesta_host", "cpu_mode"])
    causes = GaugeMetricFamily(
        "cuesta_host_cause_ratio", "The host's CPU time by cause.", labels=["cuesta_host", "cuesta_cause"]
    )
    for number, each in enumerate(view.hosts):
        for mode, value in (("user", each.usr), ("system", each.sys), ("idle", each.idle)):
            if value is not None:
                host.add_metric([str(number), mode], value / 100)
        for cause, percent in each.causes:
            causes.add_metric([str(number), cause], percent / 100)
    yield from (host, causes)
