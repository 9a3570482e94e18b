"""Metrics of a run, sent to an OpenTelemetry collector (`--otlp`)."""

import asyncio
from contextlib import ExitStack

from cuesta.live.followed import FollowedRun
from cuesta.publish.followed_metrics import FollowedMetrics
from cuesta.publish.messages import ToPublisher
from cuesta.publish.otlp import send_metrics
from cuesta.publish.outlets import Requests
from cuesta.records.messages import WatchOrder


class Sent:
    """Sends at intervals, and once more at the end."""

    name = "otlp"
    address = ""

    def __init__(self, run: FollowedRun, run_id: str, requests: Requests) -> None:
        self._metrics = FollowedMetrics(run, run_id)
        self._sending = ExitStack()
        self._sending.enter_context(send_metrics(self._metrics.metrics, requests.warn))
        self._requests, self._stop = requests, asyncio.Event()

    def take(self, message: ToPublisher) -> None:
        """Count what is new."""
        self._metrics.take(message)

    async def serve(self) -> None:
        """Wait until it is closed, and send the last metrics."""
        self._requests.watch(self.name, WatchOrder(series=True))
        await self._stop.wait()
        await asyncio.to_thread(self._sending.close)

    def close(self) -> None:
        """The run has ended."""
        self._stop.set()
