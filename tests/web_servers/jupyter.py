"""Jupyter Server 2.21.1, whose terminals are terminado's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import SHELL, Account, WebServer, installed, started

TOKEN = Account(token="b2f6e0c1a5")
PASSWORD = Account(password="secret-x1")
HASHED = "argon2:$argon2id$v=19$m=10240,t=10,p=8$bUM5FRImGPzO0ONg8hqavw$USKhDOeGkOIDRR6891bPsPK0ASTJc+9EVxzUazo46b4"
"""The password as `jupyter server password` stores it: its hash costs a login the usual CPU time."""


@contextmanager
def serve(
    folder: Path,
    *more: str,
    account: Account = TOKEN,
    certificate: Certificate | None = None,
    base: str = "/",
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it with `more` options, for the account `TOKEN` or `PASSWORD`. A hub gives the base `/user/NAME/`."""
    port = free_port()
    options = [
        "--allow-root",
        "--no-browser",
        "--ip=127.0.0.1",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.base_url={base}",
        f"--ServerApp.terminado_settings={json.dumps({'shell_command': SHELL})}",
        f"--IdentityProvider.token={account.token}",
    ]
    if account.password:
        options += [f"--PasswordIdentityProvider.hashed_password={HASHED}"]
    if certificate:
        options += [f"--ServerApp.certfile={certificate.file}", f"--ServerApp.keyfile={certificate.key}"]
    with started([installed("jupyter", "bin/jupyter-server"), *options, *more], port, folder, metered) as pid:
        yield WebServer(port, pid, base, account, certificate)
