"""To whom a run can be published: one class each, all of one shape."""

from typing import Protocol

from cuesta.live.followed import FollowedRun
from cuesta.publish.messages import Beginning, ToPublisher
from cuesta.publish.remote_steering import RemoteSteering, Say


class Outlet(Protocol):
    """Publishes a run in one way."""

    name: str
    """As its flag, without the dashes."""
    address: str
    """Where it can be had; empty if it goes there by itself."""

    def take(self, message: ToPublisher, /) -> None:
        """Take what is new. The followed run knows it already. Never waits."""

    async def serve(self) -> None:
        """Serve until it is closed."""

    def close(self) -> None:
        """Have `serve` end soon: the run has ended."""


def open_outlets(run: FollowedRun, beginning: Beginning, say: Say) -> list[Outlet]:
    """Those that are wanted; they serve from now on. Raises CuestaError if an address cannot be had."""
    wanted, outlets = beginning.outlets, list[Outlet]()
    # Each loads what the others need not.
    if wanted.web is not None:
        from cuesta.publish.web_outlet import WebOutlet  # noqa: PLC0415

        outlets.append(WebOutlet(run, wanted.web, RemoteSteering(WebOutlet.name, say)))
    if wanted.prometheus is not None:
        from cuesta.publish.prometheus_outlet import PrometheusOutlet  # noqa: PLC0415

        steering = RemoteSteering(PrometheusOutlet.name, say)
        outlets.append(PrometheusOutlet(run, beginning.run, wanted.prometheus, steering))
    if wanted.otlp:
        from cuesta.publish.otlp_outlet import OtlpOutlet  # noqa: PLC0415

        outlets.append(OtlpOutlet(run, beginning.run, RemoteSteering(OtlpOutlet.name, say)))
    if wanted.json_lines:
        from cuesta.publish.json_outlet import JsonOutlet  # noqa: PLC0415

        outlets.append(JsonOutlet(run, RemoteSteering(JsonOutlet.name, say)))
    return outlets
