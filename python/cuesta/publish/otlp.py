"""Sends the metrics of a run to a collector of OpenTelemetry (OTLP over HTTP), by the official SDK.

The standard variables `OTEL_*` say where to and how often. Importing this loads the SDK; `otlp_settings.check`
says before whether it is there.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter

from cuesta.plain_text import plain
from cuesta.publish.metrics import Metrics
from cuesta.publish.otlp_data import make_data, make_resource
from cuesta.publish.otlp_settings import check, find_collector, read_interval

PATIENCE = 5.0
"""Seconds that the last metrics may take at the end of a run."""
IMPATIENCE = 0.5
"""The same for a collector that has not taken metrics before."""
SYSTEM_ERROR = re.compile(r"\[Errno -?\d+\] ([^()'\"]+)")

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
        self._metrics = metrics
        self._complaints = _take_complaints(tell)
        self._interval = read_interval()
        self._resource = make_resource(metrics.run_id)
        self._exporter = OTLPMetricExporter()
        self._complaints.is_set_up = True
        self._ended = threading.Event()

    @property
    def has_failed(self) -> bool:
        """Whether the collector has not taken metrics at least once."""
        return self._complaints.has_told

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
        self._exporter.export(make_data(self._metrics, self._resource, time.time_ns()))


class Complaints(logging.Handler):
    """Tells the first of what the SDK logs, in place of standard error."""

    def __init__(self, tell: Tell) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell
        self.has_told = False
        """Whether sending has failed."""
        self.is_set_up = False
        """Before that, complaints are of the variables."""

    def emit(self, record: logging.LogRecord) -> None:
        if not self.is_set_up:
            # What is in the variable of headers is secret.
            hidden = "headers are not NAME=VALUE, URL encoded" if "Header" in record.msg else record.getMessage()
            self._tell(plain(f"--otlp: a variable OTEL_* is not taken: {hidden}"))
        elif not self.has_told:
            self.has_told = True
            why = shorten(record.getMessage())
            self._tell(
                plain(f"--otlp: {find_collector()} has not taken metrics: {why}; it is tried again, the run goes on")
            )


def shorten(complaint: str) -> str:
    """What the system says of a connection that failed, without the names of the libraries that tell it; else all."""
    found = SYSTEM_ERROR.search(complaint)
    return found[1] if found else complaint.rstrip(".")


def _take_complaints(tell: Tell) -> Complaints:
    complaints, logger = Complaints(tell), logging.getLogger("opentelemetry")
    logger.handlers, logger.propagate = [complaints], False
    return complaints
