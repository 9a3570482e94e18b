"""What a command and the process that publishes its run tell each other: rows of JSON, one message each."""

from collections.abc import Mapping
from dataclasses import dataclass

from cuesta.live.about import About
from cuesta.live.followed import Ending
from cuesta.records.messages import WatchOrder
from cuesta.records.observation import Observation
from cuesta.records.reading import to_json


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlets:
    """To whom a run is published."""

    web: str | None = None
    """Where the page is, as `127.0.0.1:8089`; port 0: a free one; None: there is no page."""
    prometheus: str | None = None
    """Where Prometheus scrapes."""
    otlp: bool = False
    """Whether metrics go to an OpenTelemetry collector, as the `OTEL_*` variables say."""
    json_lines: bool = False
    """Whether standard output gets a row of JSON for each interval."""

    def __bool__(self) -> bool:
        return bool(self.web is not None or self.prometheus is not None or self.otlp or self.json_lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """The first message: what is run, and to whom it is published."""

    about: About
    outlets: Outlets
    run: str
    """What tells this run from others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToPublisher:
    """What the command tells. One field of each message has a value."""

    begin: Beginning | None = None
    seen: Observation | None = None
    """What is new of the run; without snapshots if only screens are."""
    told: str | None = None
    """A sentence on the progress."""
    end: Ending | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FromPublisher:
    """What the process tells. One field of each message has a value; others go with `failed` and `watch`."""

    ready: Mapping[str, str] | None = None
    """It serves: the address of each outlet that has one."""
    failed: str | None = None
    """It cannot begin, and has ended."""
    remedy: str | None = None
    """What to do then."""
    is_usage: bool | None = None
    """Whether a flag is wrong."""
    warning: str | None = None
    """What does not work any longer, while the rest goes on."""
    watch: WatchOrder | None = None
    """What an outlet publishes from now on."""
    outlet: str | None = None
    """Which one."""
    mark: str | None = None
    """Somebody marked this instant, with a note."""
    stop: bool | None = None
    """Somebody asks that the run ends."""
    cpu: float | None = None
    """CPU seconds of the process so far."""


def encode(message: ToPublisher | FromPublisher) -> bytes:
    """A message as a row of JSON."""
    return (
        to_json({name: value for name in message.__slots__ if (value := getattr(message, name)) is not None}).encode()
        + b"\n"
    )
