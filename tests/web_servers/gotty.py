"""GoTTY 1.5.0."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import NOBODY, SHELL, Account, WebServer, installed, started


@contextmanager
def serve(
    folder: Path,
    *more: str,
    account: Account = NOBODY,
    certificate: Certificate | None = None,
    base: str = "/",
    read_only: bool = False,
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it with `more` options. An account's user and password are asked for by Basic authentication."""
    port = free_port()
    options = ["--address", "127.0.0.1", "--port", str(port), "--path", base]
    if account.user:
        options += ["--credential", f"{account.user}:{account.password}"]
    if certificate:
        options += ["--tls", "--tls-crt", str(certificate.file), "--tls-key", str(certificate.key)]
    if not read_only:
        options += ["--permit-write"]
    with started([installed("gotty", "gotty"), *options, *more, *SHELL], port, folder, metered) as pid:
        yield WebServer(port, pid, base, account, certificate)
