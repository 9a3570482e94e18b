"""Meters of another machine by the node_exporter that runs there already. It has the methods of `_native.Meters`."""

import http.client
from urllib.parse import urlsplit
from urllib.request import urlopen

from cuesta import _native
from cuesta.errors import CuestaError

PATIENCE = 3.0
"""Timeout of an answer in seconds."""
LONGEST = 32 << 20
"""The most bytes of an answer; no node_exporter sends more."""


class NodeExporter:
    """A node_exporter at a URL such as `http://host:9100/metrics`."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.last = self.snapshot()

    def snapshot(self) -> str:
        """The counters now, as JSON. Raises CuestaError if there is no answer, or a malformed one."""
        try:
            with urlopen(self.url, timeout=PATIENCE) as answer:
                text = answer.read(LONGEST).decode("utf-8", errors="replace")
            return _native.node_exporter_snapshot(text)
        except (OSError, http.client.HTTPException) as error:
            remedy = f"see whether `curl {self.url}` answers; Debian's package is prometheus-node-exporter"
            raise CuestaError(f"{self.url}: no meters there: {getattr(error, 'reason', error)}", remedy) from None
        except ValueError as error:
            raise CuestaError(f"{self.url}: {error}", "is its path /metrics?") from None

    def report(self, since: str | None = None) -> str:
        """The report since a snapshot, or since the previous report without one. Raises CuestaError."""
        now = self.snapshot()
        try:
            report = _native.report_between(since or self.last, now)
        except _native.RunError as error:
            raise CuestaError(f"{self.url}: {error}") from None
        if since is None:
            self.last = now
        return report


def is_url(where: str) -> bool:
    """Whether the URL may be that of a node_exporter."""
    parts = urlsplit(where)
    return parts.scheme in ("http", "https") and bool(parts.hostname)
