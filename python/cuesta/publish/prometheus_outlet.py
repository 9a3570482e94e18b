"""What Prometheus scrapes of a run, on a port (`--prometheus`)."""

import asyncio

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from cuesta.live.followed import FollowedRun
from cuesta.publish.followed_metrics import FollowedMetrics
from cuesta.publish.messages import ToPublisher
from cuesta.publish.prometheus import MetricsApp
from cuesta.publish.remote_steering import RemoteSteering
from cuesta.site.serving import listen, read_address, serve

PORT = 9464
"""Unless another is given: that of OpenTelemetry's exporters for Prometheus."""


class NotForScripts:
    """Refuses what a script of a page asks for, whatever name leads here: browsers say so, and scrapers say nothing."""

    def __init__(self, application: ASGIApp) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        is_for_reader = Headers(scope=scope).get("sec-fetch-mode", "navigate") == "navigate"
        refused = PlainTextResponse("this is for scrapers, and not for pages\n", 403)
        await (self._application if is_for_reader else refused)(scope, receive, send)


class PrometheusOutlet:
    """Serves `/metrics`."""

    name = "prometheus"

    def __init__(self, run: FollowedRun, run_id: str, address: str, steering: RemoteSteering) -> None:
        self._listener = listen(*read_address(address, PORT))
        self.address = f"http://{self._listener.address}/metrics"
        self._metrics = FollowedMetrics(run, run_id)
        self._application = Starlette(routes=[Route("/metrics", NotForScripts(MetricsApp(self._metrics.metrics)))])
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
