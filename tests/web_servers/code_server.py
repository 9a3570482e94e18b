"""code-server 4.100.3: VS Code, for its integrated terminal."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import NOBODY, Account, WebServer, installed, started


@contextmanager
def serve(
    folder: Path,
    *more: str,
    account: Account = NOBODY,
    certificate: Certificate | None = None,
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it with `more` options. Its page asks for an account's password; clients say which shell they want."""
    port = free_port()
    own = folder / "code-server"
    options = ["--bind-addr", f"127.0.0.1:{port}", "--auth", "password" if account.password else "none"]
    options += [
        "--config",
        f"{own}/config.yaml",
        "--user-data-dir",
        f"{own}/data",
        "--extensions-dir",
        f"{own}/extensions",
    ]
    options += ["--disable-telemetry", "--disable-update-check"]
    if certificate:
        options += ["--cert", str(certificate.file), "--cert-key", str(certificate.key)]
    program = [installed("code_server", "node"), installed("code_server", "node_modules/code-server/out/node/entry.js")]
    with started([*program, *options, *more], port, folder, metered, PASSWORD=account.password) as pid:
        yield WebServer(port, pid, "/", account, certificate)
