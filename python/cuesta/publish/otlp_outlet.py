"""Metrics of a run, sent to an OpenTelemetry collector (`--otlp`)."""

import asyncio
from contextlib import ExitStack

from cuesta.live.followed import FollowedRun
from cuesta.publish.followed_metrics import FollowedMetrics
from cuesta.publish.messages import ToPublisher
from cuesta.publish.otlp import send_metrics
from cuesta.publish.remote_steering import RemoteSteering


class OtlpOutlet:
    """Sends at intervals, and once more at the end."""

    name = "otlp"
    address = ""

    def __init__(self, run: FollowedRun, run_id: str, steering: RemoteSteering) -> None:
        self._metrics = FollowedMetrics(run, run_id)
        self._sending = ExitStack()
        self._sending.enter_context(send_metrics(self._metrics.metrics, steering.warn))
        self._steering, self._stop = steering, asyncio.Event()

    def take(self, message: ToPublisher) -> None:
        """Count what is new."""
        self._metrics.take(message)

    async def serve(self) -> None:
        """Wait until it is closed, and send the last metrics."""
        self._steering.watch(series=True)
        await self._stop.wait()
        await asyncio.to_thread(self._sending.close)

    def close(self) -> None:
        """The run has ended."""
        self._stop.set()
