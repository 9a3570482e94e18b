"""Makes the data that OpenTelemetry's exporter sends: all metrics of a run at an instant.

Durations are exponential histograms since the start of the run, made from the driver's own: every count is exact,
and the least and the largest are told.
"""

from collections.abc import Iterator, Sequence

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Buckets,
    ExponentialHistogram,
    ExponentialHistogramDataPoint,
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

import cuesta
from cuesta._native import Histogram
from cuesta.publish.buckets import SCALE, exponential_buckets, total_seconds
from cuesta.publish.instruments import DURATIONS, NUMBERS, Number, describe
from cuesta.publish.metrics import Metrics

CUMULATIVE = AggregationTemporality.CUMULATIVE
Attributes = dict[str, str]


def make_resource(run_id: str) -> Resource:
    """What the metrics are of. `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` go before Cuesta's own names."""
    own = {"service.name": "cuesta", "service.version": cuesta.__version__, "cuesta.run.id": run_id}
    return Resource.create(own).merge(OTELResourceDetector().detect())


def make_data(metrics: Metrics, resource: Resource, now: int) -> MetricsData:
    """All metrics at an instant, in ns since 1970."""
    found = [*_durations(metrics, now), *(_number(each, metrics, now) for each in NUMBERS)]
    scope = InstrumentationScope("cuesta", cuesta.__version__)
    of_scope = ScopeMetrics(scope, [metric for metric in found if metric.data.data_points], "")
    return MetricsData([ResourceMetrics(resource, [of_scope], "")])


def _durations(metrics: Metrics, now: int) -> Iterator[Metric]:
    durations, started = metrics.durations(), _started(metrics)
    for instrument in DURATIONS:
        points = []
        for which, histogram in durations.items():
            if which.figure == instrument.figure:
                attributes = _attributes(instrument.attributes, (which.group, which.transaction))
                points.append(_histogram_point(attributes, histogram, started, now))
        data = ExponentialHistogram(points, CUMULATIVE)
        yield Metric(instrument.name, describe(instrument), instrument.unit, data)


def _histogram_point(
    attributes: Attributes, histogram: Histogram, started: int, now: int
) -> ExponentialHistogramDataPoint:
    buckets = exponential_buckets(histogram)
    return ExponentialHistogramDataPoint(
        attributes=attributes,
        start_time_unix_nano=started,
        time_unix_nano=now,
        count=histogram.count,
        sum=total_seconds(histogram),
        scale=SCALE,
        zero_count=buckets.zeros,
        positive=Buckets(buckets.first, buckets.counts),
        negative=Buckets(0, []),
        flags=0,
        min=histogram.min,
        max=histogram.max,
    )


def _number(number: Number, metrics: Metrics, now: int) -> Metric:
    started = _started(metrics)
    points = [
        NumberDataPoint(_attributes(number.attributes, values), started, now, value)
        for values, value in number.read(metrics)
    ]
    data = Sum(points, CUMULATIVE, is_monotonic=True) if number.is_count else Gauge(points)
    return Metric(number.name, describe(number), number.unit, data)


def _started(metrics: Metrics) -> int:
    return round(metrics.started * 1e9)


def _attributes(names: Sequence[str], values: Sequence[str]) -> Attributes:
    """Those that have a value: a key belongs to no transaction."""
    return {name: value for name, value in zip(names, values, strict=True) if value}
