"""The real web-terminal servers start, and answer as what they are."""

import http.client
import ssl
from pathlib import Path

import pytest

from tests.web_servers import NIGHTLY, SERVERS, kubernetes, ttyd
from tests.web_servers.certificates import make_certificate
from tests.web_servers.server import Account, WebServer

NO_POD = "api/v1/namespaces/default/pods/db/exec"
ANSWERS = {
    "ttyd": ("token", 200, '{"token": ""}'),
    "jupyter": ("api", 200, '{"version": "2.21.1"}'),
    "cockpit": ("ping", 200, '"service": "cockpit"'),
    "gotty": ("config.js", 200, "gotty_term = 'xterm'"),
    "wetty": ("socket.io/?EIO=4&transport=polling", 200, '"pingInterval":3000'),
    "code-server": ("healthz", 200, '{"status":"expired","lastHeartbeat":0}'),
    "jupyterhub": ("api", 200, '{"version": "2.21.1"}'),
    "k8s": (NO_POD, 404, 'pods \\"db\\" not found'),
}
"""A page of each, its status, and what it says there and no other server does."""


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.nightly] if kind in NIGHTLY else []) for kind in SERVERS]
)
def test_a_server_answers(kind: str, tmp_path: Path) -> None:
    page, status, says = ANSWERS[kind]
    with SERVERS[kind](tmp_path) as server:
        found, text = get(server, page)
    assert (found, says in text) == (status, True), text


def test_a_certificate_of_the_authority_and_an_account(tmp_path: Path) -> None:
    with ttyd.serve(tmp_path, account=Account("joe", "secret"), certificate=make_certificate(tmp_path)) as server:
        assert server.place == f"wss://127.0.0.1:{server.port}/"
        assert [get(server, "", auth=auth)[0] for auth in (None, "Basic am9lOnNlY3JldA==")] == [401, 200]


@pytest.mark.nightly
def test_a_token_or_a_client_certificate(tmp_path: Path) -> None:
    own, joe = make_certificate(tmp_path), make_certificate(tmp_path, "joe")
    account = Account(token="b2f6e0c1a5")
    with kubernetes.serve(tmp_path, account=account, certificate=own, clients=own.authority) as server:
        assert get(server, NO_POD)[0] == 401
        assert get(server, NO_POD, auth="Bearer wrong")[0] == 401
        assert get(server, NO_POD, auth=f"Bearer {account.token}")[0] == 404
        assert get(server, NO_POD, client=(str(joe.file), str(joe.key)))[0] == 404


def get(
    server: WebServer, page: str, auth: str | None = None, client: tuple[str, str] | None = None
) -> tuple[int, str]:
    """The status and text of a page. A server that speaks TLS must show a certificate that its authority has signed."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    if server.certificate:
        context = ssl.create_default_context(cafile=server.certificate.authority)
        if client:
            context.load_cert_chain(*client)
        connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context)
    connection.request("GET", server.base + page, headers={"Authorization": auth} if auth else {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text
