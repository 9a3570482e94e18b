"""Sends the metrics of a run to a collector of OpenTelemetry (OTLP over HTTP), by the official SDK.

The standard variables `OTEL_*` say where to and how often. Importing this loads the SDK; `otlp_settings.check`
says before whether it is there.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.sdk.metrics.export import MetricExportResult

from cuesta.plain_text import plain
from cuesta.publish.metrics import Metrics
from cuesta.publish.otlp_data import make_data, make_resource
from cuesta.publish.otlp_settings import check, read_interval

PATIENCE = 5.0
"""Seconds that the last metrics may take at the end of a run."""
IMPATIENCE = 0.5
"""The same for a collector that has not taken metrics before."""

Tell = Callable[[str], None]


@contextmanager
def send_metrics(metrics: Metrics, tell: Tell) -> Iterator[None]:
    """Send metrics at intervals during the block, and at its end. `tell` is told once if that fails.

    Raises UsageError as `otlp_settings.check`.
    """
    check()
    sender = Sender(metrics, tell)
    thread = threading.Thread(target=sender.send_until_ended, name="otlp", daemon=True)
    thread.start()
    try:
        yield
    finally:
        sender.end()
        thread.join(IMPATIENCE if sender.has_failed else PATIENCE)
        sender.give_up()


class Sender:
    """Hands the metrics to the SDK's exporter."""

    def __init__(self, metrics: Metrics, tell: Tell) -> None:
        self._metrics, self._tell = metrics, tell
        self._interval = read_interval()
        self._complaints = _take_complaints()
        self._resource = make_resource(metrics.run_id)
        self._exporter = OTLPMetricExporter()
        self._ended = threading.Event()
        self.has_failed = False

    def send_until_ended(self) -> None:
        """Send at intervals, and once more at the end."""
        while not self._ended.wait(self._interval):
            self._send()
        self._send()

    def end(self) -> None:
        """Have the last metrics sent."""
        self._ended.set()

    def give_up(self) -> None:
        """Try no more, and close connections."""
        self._exporter.shutdown()

    def _send(self) -> None:
        data = make_data(self._metrics, self._resource, time.time_ns())
        if self._exporter.export(data) is not MetricExportResult.SUCCESS and not self.has_failed:
            self.has_failed = True
            self._tell(plain(f"--otlp: the collector has not taken metrics: {self._complaints.first}; the run goes on"))


class Complaints(logging.Handler):
    """What the SDK logs, in place of standard error."""

    first = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.first = self.first or record.getMessage()


def _take_complaints() -> Complaints:
    complaints, logger = Complaints(logging.WARNING), logging.getLogger("opentelemetry")
    logger.handlers, logger.propagate = [complaints], False
    return complaints
