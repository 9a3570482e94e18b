"""Cockpit 287, Debian's. It runs in a mount namespace, where the users and their home folders are the test's."""

import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port, needed
from tests.web_servers.certificates import Certificate
from tests.web_servers.server import NOBODY, Account, WebServer, make_home, started

PROGRAM = "/usr/lib/cockpit/cockpit-ws"
JOE = Account("joe", "secret-x1")
JOES_NUMBER = 4242


@contextmanager
def serve(
    folder: Path,
    *more: str,
    account: Account = NOBODY,
    certificate: Certificate | None = None,
    metered: bool = False,
) -> Iterator[WebServer]:
    """Start it with `more` options. `JOE` logs in through PAM; without an account all are root, and there is no TLS."""
    port = free_port()
    command = [needed(PROGRAM), "-a", "127.0.0.1", "-p", str(port), *more]
    if certificate:
        assert account == JOE, "a session without a login has no TLS"
    else:
        command += ["--no-tls"]
    if account == JOE:
        mounts = make_user(folder / "users")
    else:
        command += ["--local-session=cockpit-bridge"]
        mounts = {pwd.getpwuid(os.getuid()).pw_dir: make_home(folder / "home")}
    settings = {"XDG_CONFIG_DIRS": str(configure(folder / "config", certificate))}
    with started([*mounting(mounts), *command], port, folder, metered, **settings) as pid:
        yield WebServer(port, pid, "/", account, certificate)


def configure(folder: Path, certificate: Certificate | None) -> Path:
    """Write its settings (any number may log in at once) and its certificate into a folder, which is returned."""
    own = folder / "cockpit"
    (own / "ws-certs.d").mkdir(parents=True)
    (own / "cockpit.conf").write_text("[WebService]\nMaxStartups = 1000\n")
    if certificate:
        shutil.copy(certificate.file, own / "ws-certs.d/server.cert")
        shutil.copy(certificate.key, own / "ws-certs.d/server.key")
    return folder


def make_user(folder: Path) -> dict[str, Path]:
    """Write the machine's files with `JOE` added, and a home folder; returns them by where they are to be mounted."""
    command = [needed("openssl"), "passwd", "-6", JOE.password]
    hashed = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    home = make_home(folder / "home/joe")
    for path in (home, *home.iterdir()):
        os.chown(path, JOES_NUMBER, JOES_NUMBER)
    rows = {
        "passwd": f"joe:x:{JOES_NUMBER}:{JOES_NUMBER}::/home/joe:/bin/bash",
        "shadow": f"joe:{hashed}:19000:0:99999:7:::",
        "group": f"joe:x:{JOES_NUMBER}:",
    }
    for name, row in rows.items():
        (folder / name).write_text(f"{Path('/etc', name).read_text()}{row}\n")
    (folder / "shadow").chmod(0o600)
    return {"/home": folder / "home", **{f"/etc/{name}": folder / name for name in rows}}


def mounting(mounts: dict[str, Path]) -> list[str]:
    """What stands before a command that sees other files at some places."""
    binds = [f"mount --bind '{source}' '{place}'" for place, source in mounts.items()]
    return ["unshare", "--mount", "sh", "-ec", "\n".join([*binds, 'exec "$@"']), "sh"]
