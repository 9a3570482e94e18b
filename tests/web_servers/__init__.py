"""Real web-terminal servers on loopback, which tests start. `scripts/web-servers` installs them.

Each file has one of them, all of one shape: `serve(folder, …)` is a context manager that starts the server with what
it needs in a folder, yields a `WebServer`, and ends all its processes. Their shells are bash with the prompt `$ `.

`server`        what a server is, and how one is started
`certificates`  an authority of a test's own, and what it signs
`ttyd`, `jupyter`, `cockpit`   the quick ones
`gotty`, `kubernetes`, `jupyterhub`, `wetty`, `code_server`   of nightly tests: they take minutes to install
"""

from tests.web_servers import cockpit, code_server, gotty, jupyter, jupyterhub, kubernetes, ttyd, wetty
from tests.web_servers.server import Serve

QUICK: dict[str, Serve] = {"ttyd": ttyd.serve, "jupyter": jupyter.serve, "cockpit": cockpit.serve}
NIGHTLY: dict[str, Serve] = {
    "gotty": gotty.serve,
    "wetty": wetty.serve,
    "code-server": code_server.serve,
    "k8s": kubernetes.serve,
    "jupyterhub": jupyterhub.serve,
}
SERVERS: dict[str, Serve] = {**QUICK, **NIGHTLY}
"""All servers, by what stands before `+ws://` in targets; that is `jupyter` for JupyterHub too."""
