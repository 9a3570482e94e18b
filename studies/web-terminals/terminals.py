#!/usr/bin/env python3
"""Starts a web terminal on loopback for the study: `studies/web-terminals/terminals.py ttyd -- cuesta run PLAN`.

    terminals.py ttyd|gotty|wetty|jupyter|cockpit|code-server|openssh|none [-- COMMAND …]
    terminals.py all -- cuesta run PLAN --out runs/{server}

The command gets the server's target in CUESTA_TARGET and who logs in in CUESTA_DATA, so that `cuesta run` types there.
`{server}` in its words is replaced by the server's name. The server ends with the command; without one, with Ctrl+C.
`all` runs the command once for each server that is installed, one after another. `none` is the baseline: the same shell
of the same account on the driver's own terminals.

With `--memory` the script says at the end what memory the sessions took: the proportional set size (PSS) of their
processes, by program, beyond that of the idle server. To read it the kernel walks over each process's pages, so use a
run of its own for memory.

All servers are root's and start the login shell of one unprivileged account, `typist`. It has a password, and exists
only in the mount namespace of the server. Debian's packages (Cockpit, OpenSSH) come with `./scripts/setup --tests`, the
others with `./scripts/web-servers quick` (ttyd, Jupyter) or `all`.
"""

import json
import secrets
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import quote

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from studies.serving import ACCOUNT, HOME, LOGIN_SHELL, UID, Server, fail, main, program
from studies.sshd import OPENSSH

INSTALLED = Path(__file__).resolve().parents[2] / "target/web-servers"
"""Where `scripts/web-servers` installs them."""
TTYD, GOTTY, JUPYTER = "ttyd/ttyd", "gotty/gotty", "jupyter/bin/jupyter-server"
WETTY, CODE_SERVER = "wetty/node_modules/wetty/build/main.js", "code_server/node_modules/code-server/out/node/entry.js"
SHELL_WORDS = [program(LOGIN_SHELL[0]), *LOGIN_SHELL[1:]]
HASH = "import sys; from jupyter_server.auth.security import passwd; print(passwd(sys.stdin.read()))"


def serve_ttyd(folder: Path, port: int) -> list[str]:
    own = ["-p", str(port), "-i", "lo", "-W", "-c", f"{ACCOUNT}:{admit_users(folder)}"]
    return [find_installed(TTYD), *own, *SHELL_WORDS]


def serve_gotty(folder: Path, port: int) -> list[str]:
    own = ["--address", "127.0.0.1", "--port", str(port), "--permit-write"]
    own += ["--credential", f"{ACCOUNT}:{admit_users(folder)}"]
    return ["env", "TERM=xterm-256color", find_installed(GOTTY), *own, *SHELL_WORDS]


def serve_wetty(_: Path, port: int) -> list[str]:
    """It starts the shell itself, as WeTTY does when root asks for this machine; it has no login of its own."""
    own = ["--host", "127.0.0.1", "--port", str(port), "--base", "/wetty", "--ssh-host", "localhost"]
    own += ["--command", " ".join(SHELL_WORDS)]
    return [find_installed("wetty/node"), find_installed(WETTY), *own]


def serve_jupyter(folder: Path, port: int) -> list[str]:
    python = find_installed("jupyter/bin/python")
    password = admit_users(folder)
    hashed = subprocess.run([python, "-c", HASH], input=password, capture_output=True, text=True, check=True).stdout
    own = ["--allow-root", "--no-browser", "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"]
    own += [f"--ServerApp.root_dir={folder}/homes", "--IdentityProvider.token="]
    own += [f"--PasswordIdentityProvider.hashed_password={hashed.strip()}"]
    own += [f"--ServerApp.terminado_settings={json.dumps({'shell_command': SHELL_WORDS})}"]
    return ["env", f"HOME={folder}", python, find_installed(JUPYTER), *own]


def serve_cockpit(folder: Path, port: int) -> list[str]:
    """Each login is one of PAM, with processes of its own; any number may log in at once."""
    hashed = printed_by("openssl", "passwd", "-6", admit_users(folder))
    rows = {"shadow": f"{ACCOUNT}:{hashed}:19000:0:99999:7:::", "group": f"{ACCOUNT}:x:{UID}:"}
    for name, row in rows.items():
        (folder / "etc" / name).write_text(f"{Path('/etc', name).read_text()}{row}\n")
    (folder / "etc/shadow").chmod(0o600)
    (folder / "config/cockpit").mkdir(parents=True)
    (folder / "config/cockpit/cockpit.conf").write_text("[WebService]\nMaxStartups = 1000\n")
    own = ["--no-tls", "-a", "127.0.0.1", "-p", str(port)]
    return ["env", f"XDG_CONFIG_DIRS={folder}/config", program("cockpit-ws"), *own]


def serve_code_server(folder: Path, port: int) -> list[str]:
    own = ["--bind-addr", f"127.0.0.1:{port}", "--auth", "password", "--config", f"{folder}/config.yaml"]
    own += ["--user-data-dir", f"{folder}/data", "--extensions-dir", f"{folder}/extensions"]
    own += ["--disable-telemetry", "--disable-update-check"]
    given = ["env", f"HOME={folder}", f"PASSWORD={admit_users(folder)}"]
    return [*given, find_installed("code_server/node"), find_installed(CODE_SERVER), *own]


def target_of_code_server(_: Path, port: int) -> str:
    """Who opens a terminal of VS Code says which program is started."""
    shell, *arguments = SHELL_WORDS
    words = "".join(f"&arg={quote(word)}" for word in arguments)
    return f"code-server+ws://127.0.0.1:{port}/?shell={quote(shell)}{words}&directory={HOME}"


def target_at(_: Path, port: int, kind: str) -> str:
    return f"{kind}+ws://127.0.0.1:{port}/"


def admit_users(folder: Path) -> str:
    """Make the account's password, and the table of those who log in with it."""
    password = secrets.token_hex(8)
    table = folder / "users.csv"
    table.touch(mode=0o600)
    table.write_text(f"user,password\n{ACCOUNT},{password}\n")
    return password


def find_installed(name: str) -> str:
    """The path of what `scripts/web-servers` has installed."""
    path = INSTALLED / name
    return str(path) if path.exists() else fail(f"no {path}: ./scripts/web-servers all")


def printed_by(*command: str) -> str:
    words = [program(command[0]), *command[1:]]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def describe(kind: str, serve: Callable[[Path, int], list[str]], program: str | None = None) -> Server:
    """A server whose target needs no settings."""
    return Server(serve, partial(target_at, kind=kind), program=INSTALLED / program if program else None)


SERVERS = {
    "ttyd": describe("ttyd", serve_ttyd, TTYD),
    "gotty": describe("gotty", serve_gotty, GOTTY),
    "wetty": describe("wetty", serve_wetty, WETTY),
    "jupyter": describe("jupyter", serve_jupyter, JUPYTER),
    "cockpit": describe("cockpit", serve_cockpit),
    "code-server": Server(serve_code_server, target_of_code_server, program=INSTALLED / CODE_SERVER),
    "openssh": OPENSSH,
}

if __name__ == "__main__":
    sys.exit(main(SERVERS, __doc__))
