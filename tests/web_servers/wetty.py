"""WeTTY 3.2.0."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import SHELL, WebServer, installed, started


@contextmanager
def serve(
    folder: Path,
    *more: str,
    certificate: Certificate | None = None,
    base: str = "/wetty/",
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it with `more` options. It runs the shell itself, as it does for root who asks for no other machine."""
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--base", base.rstrip("/")]
    options += ["--ssh-host", "localhost", "--command", shlex.join(SHELL)]
    if certificate:
        options += ["--ssl-cert", str(certificate.file), "--ssl-key", str(certificate.key)]
    program = [installed("wetty", "node"), installed("wetty", "node_modules/wetty/build/main.js")]
    with started([*program, *options, *more], port, folder, metered) as pid:
        yield WebServer(port, pid, base, certificate=certificate)
