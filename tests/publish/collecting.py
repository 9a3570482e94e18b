"""A small collector of OpenTelemetry: it reads what is sent by HTTP."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate
from math import ceil, sqrt
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest


class Collector:
    """What has been sent to a collector. It can fail: `answers` is the status of each answer from now on."""

    def __init__(self) -> None:
        self.answers = 200
        self.url = ""
        self.headers: dict[str, str] = {}
        """Those of the newest request."""
        self.hold = threading.Event()
        """Nothing is answered until it is set."""
        self.hold.set()
        self._counted = threading.Condition()
        self._requests: list[Any] = []

    def take(self, path: str, headers: dict[str, str], body: bytes) -> int:
        if path != "/v1/metrics":
            return 404
        request = ExportMetricsServiceRequest()
        request.ParseFromString(gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body)
        with self._counted:
            self.headers = headers
            self._requests.append(request)
            self._counted.notify_all()
        self.hold.wait()
        return self.answers

    def wait_for(self, requests: int) -> None:
        """Wait until it has received at least `requests` requests."""
        with self._counted:
            assert self._counted.wait_for(lambda: len(self._requests) >= requests, timeout=60)

    @property
    def count(self) -> int:
        return len(self._requests)

    def resource(self) -> dict[str, str]:
        """What the newest metrics are of."""
        (of_resource,) = self._requests[-1].resource_metrics
        return attributes(of_resource.resource)

    def metrics(self) -> dict[str, Any]:
        """The newest metrics, by name."""
        (of_resource,) = self._requests[-1].resource_metrics
        (of_scope,) = of_resource.scope_metrics
        return {metric.name: metric for metric in of_scope.metrics}


def attributes(of: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in of.attributes}


def quantile(point: Any, share: float) -> float:
    """A quantile of an exponential histogram: the middle of the bucket that has it, or zero."""
    rank, base = ceil(share * point.count), 2**2**-point.scale
    known = accumulate([point.zero_count, *point.positive.bucket_counts])
    number = next(number for number, count in enumerate(known) if count >= rank)
    return 0.0 if number == 0 else base ** (point.positive.offset + number - 1) * sqrt(base)


@contextmanager
def collecting() -> Iterator[Collector]:
    """Have a collector during the block."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status = collector.take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the library's name
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        collector.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield collector
        finally:
            collector.hold.set()
            server.shutdown()
            thread.join()
