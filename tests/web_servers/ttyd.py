"""ttyd 1.7.7, the official static program."""

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
    options = ["-p", str(port), "-i", "lo", "-b", base.rstrip("/")]
    if account.user:
        options += ["-c", f"{account.user}:{account.password}"]
    if certificate:
        options += ["-S", "-C", str(certificate.file), "-K", str(certificate.key)]
    if not read_only:
        options += ["-W"]
    with started([installed("ttyd", "ttyd"), *options, *more, *SHELL], port, folder, metered) as pid:
        yield WebServer(port, pid, base, account, certificate)
