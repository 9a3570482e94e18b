"""JupyterHub 6.1.1, and a Jupyter server for each of its users."""

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.daemons import free_port
from tests.web_servers.server import PROMPT, SHELL, Account, WebServer, installed, started

PASSWORD = "secret-x1-of-everybody-here"
ADMINISTRATOR = "0123456789abcdef0123456789abcdef"
"""A token of a service that may start servers and make tokens."""
CONFIGURATION = """\
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.JupyterHub.cookie_secret_file = "{folder}/secret"
c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"
c.JupyterHub.tornado_settings = {{"slow_spawn_timeout": 0}}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy}"
c.ConfigurableHTTPProxy.command = ["{node}", "{program}"]
c.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{password}"
c.Authenticator.allowed_users = set({users})
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{folder}/home"
c.Spawner.cmd = ["{server}"]
c.Spawner.args = ["--allow-root", '--ServerApp.terminado_settings={{"shell_command": {shell}}}']
c.Spawner.environment = {{"PS1": "{prompt}"}}
c.JupyterHub.services = [{{"name": "tests", "api_token": "{administrator}"}}]
SCOPES = ["admin:users", "admin:servers", "tokens"]
c.JupyterHub.load_roles = [{{"name": "tests", "services": ["tests"], "scopes": SCOPES}}]
"""


@contextmanager
def serve(folder: Path, *users: str, metered: bool = False) -> Iterator[WebServer]:
    """Start it and the servers of `users` (of `joe`, if none is named), who log in by `PASSWORD` or have a token each.

    Base and account are the first user's; `users.csv` in the folder has the columns user and token.
    """
    names = users or ("joe",)
    port, hub = free_port(), free_port()
    (folder / "hub.py").write_text(configure(folder, port, hub, names))
    command = [installed("jupyterhub", "bin/jupyterhub"), "-f", f"{folder}/hub.py"]
    with started(command, hub, folder, metered) as pid:  # the hub listens when its proxy does
        tokens = start_servers(hub, names)
        rows = [f"{name},{token}" for name, token in tokens.items()]
        (folder / "users.csv").write_text("\n".join(["user,token", *rows, ""]))
        account = Account(names[0], PASSWORD, tokens[names[0]])
        yield WebServer(port, pid, f"/user/{names[0]}/", account)


def configure(folder: Path, port: int, hub: int, users: tuple[str, ...]) -> str:
    return CONFIGURATION.format(
        folder=folder,
        port=port,
        hub=hub,
        proxy=free_port(),
        node=installed("jupyterhub", "node"),
        program=installed("jupyterhub", "node_modules/configurable-http-proxy/bin/configurable-http-proxy"),
        server=installed("jupyterhub", "bin/jupyterhub-singleuser"),
        password=PASSWORD,
        users=users,
        shell=json.dumps(SHELL),
        prompt=PROMPT,
        administrator=ADMINISTRATOR,
    )


def start_servers(hub: int, users: tuple[str, ...]) -> dict[str, str]:
    """Start the users' servers side by side and wait for all; returns a token for each user."""
    for user in users:
        ask(hub, "POST", f"{user}/server")
    for user in users:
        ask(hub, "GET", f"{user}/server/progress")  # ends when the server is ready
    return {user: json.loads(ask(hub, "POST", f"{user}/tokens"))["token"] for user in users}


def ask(hub: int, method: str, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", hub)
    connection.request(method, f"/hub/api/users/{path}", "{}", {"Authorization": f"token {ADMINISTRATOR}"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    assert answer.status < 300, f"{method} {path}: {answer.status} {text!r}"
    return text
