"""Exec and attach of Kubernetes 1.37, by its own code: tests/kubernetes_server."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import NOBODY, Account, WebServer, installed, started


@contextmanager
def serve(
    folder: Path,
    *,
    account: Account = NOBODY,
    certificate: Certificate | None = None,
    clients: Path | None = None,
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it, with the pods web… of the namespace `default`.

    Requests need the account's token, if it has one, or a client certificate that the authority `clients` has signed.
    """
    port = free_port()
    options = ["-address", f"127.0.0.1:{port}"]
    if account.token:
        secret = folder / "token"
        secret.write_text(account.token)
        options += ["-token", str(secret)]
    if certificate:
        options += ["-cert", str(certificate.file), "-key", str(certificate.key)]
    if clients:
        options += ["-client-ca", str(clients)]
    with started([installed("kubernetes", "server"), *options], port, folder, metered) as pid:
        yield WebServer(port, pid, "/", account, certificate)
