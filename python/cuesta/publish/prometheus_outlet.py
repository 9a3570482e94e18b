"""What Prometheus scrapes of a run, on a port (`--prometheus`)."""

import asyncio

from starlette.applications import Starlette
from starlette.routing import Route

from cuesta.live.followed import FollowedRun
from cuesta.publish.followed_metrics import FollowedMetrics
from cuesta.publish.messages import ToPublisher
from cuesta.publish.prometheus import MetricsApp
from cuesta.publish.remote_steering import RemoteSteering
from cuesta.site.serving import listen, read_address, serve

PORT = 9464
"""Unless another is given: that of OpenTelemetry's exporters for Prometheus."""


class PrometheusOutlet:
    """Serves `/metrics`."""

    name = "prometheus"

    def __init__(self, run: FollowedRun, run_id: str, address: str, steering: RemoteSteering) -> None:
        self._listener = listen(*read_address(address, PORT))
        self.address = f"http://{self._listener.address}/metrics"
        self._metrics = FollowedMetrics(run, run_id)
        self._application = Starlette(routes=[Route("/metrics", MetricsApp(self._metrics.metrics))])
        self._steering, self._stop = steering, asyncio.Event()

    def take(self, message: ToPublisher) -> None:
        """Count what is new."""
        self._metrics.take(message)

    async def serve(self) -> None:
        """Serve until it is closed."""
        self._steering.watch(series=True)
        await serve(self._application, self._listener, self._stop)

    def close(self) -> None:
        """The run has ended."""
        self._stop.set()
