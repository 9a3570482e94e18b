"""A page's address as a target: which kind of web terminal is said to be there, and what is asked and shown."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread

import pytest

import cuesta as library
from cuesta import _native
from cuesta.errors import Exit, UsageError
from cuesta.workflow import web_pages
from cuesta.workflow.page_kinds import PAGE_KINDS
from tests.conftest import Cuesta, Write
from tests.web_servers import SERVERS, cockpit, code_server, gotty, jupyter, ttyd
from tests.web_servers.certificates import Certificate, make_certificate
from tests.web_servers.server import Account, WebServer

Page = tuple[int, list[tuple[str, str]], str]
"""Status, headers and body."""


@dataclass
class Site:
    """Pages by path, without their query; what was asked for is noted."""

    pages: Mapping[str, Page]
    port: int = 0
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving(pages: Mapping[str, Page], certificate: Certificate | None = None) -> Iterator[Site]:
    site = Site(pages)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            site.asked.append(self.path)
            status, headers, body = site.pages.get(self.path.partition("?")[0], (404, [], "no such page"))
            self.send_response_only(status)
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_port
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate.file, certificate.key)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield site
        server.shutdown()
        thread.join()


@contextmanager
def speaking(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """Send some bytes to each client and close the connection; yields an address."""

    def work() -> None:
        with listening.accept()[0] as connection, suppress(OSError):
            speak(connection)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = Thread(target=work)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        thread.join()


def look(url: str) -> str:
    """What is said of a page, without what to do about it."""
    with pytest.raises(UsageError) as refused:
        web_pages.refuse_page(url)
    return str(refused.value)


HUB = [("X-JupyterHub-Version", "6.1.1")]
STATUS = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Unauthorized","code":401}'
CODE = '<meta id="vscode-workbench-web-configuration" data-settings="{}">'
AGENT = "0b1ed4ac-4e1f-4f6b-9d0a-8a9a3c4f2b6d"

SEEN: list[tuple[str, str, Page, str]] = [
    ("ttyd", "/", (200, [("server", "ttyd/1.7.7-40e79c7 (libwebsockets/4.3.3)")], ""), "ttyd+ws://HOST/"),
    ("ttyd", "/t", (401, [("www-authenticate", 'Basic realm="ttyd"')], ""), "ttyd+ws://HOST/t/"),
    ("ttyd", "/t/", (200, [("Server", "nginx")], "<title>ttyd - Terminal</title>"), "ttyd+ws://HOST/t/"),
    ("GoTTY", "/x7f/", (200, [("Server", "GoTTY")], "<title>bash@vm</title>"), "gotty+ws://HOST/x7f/"),
    ("GoTTY", "/", (200, [("Server", "nginx")], '<script src="./js/gotty.js">'), "gotty+ws://HOST/"),
    ("WeTTY", "/wetty", (200, [], "<title>WeTTY - The Web Terminal</title>"), "wetty+ws://HOST/wetty"),
    ("WeTTY", "/wetty/ssh/joe", (200, [], '<script src="/wetty/client/wetty.js">'), "wetty+ws://HOST/wetty?ssh=joe"),
    ("code-server", "/", (200, [], CODE), "code-server+ws://HOST/"),
    ("code-server", "/c/login", (200, HUB, "<title>code-server login</title>"), "code-server+ws://HOST/c/"),
    ("Cockpit", "/system/terminal", (200, [("Set-Cookie", "cockpit=deleted; PATH=/")], ""), "cockpit+ws://HOST/"),
    ("Cockpit", "/", (404, [], '<base href="/cockpit/@localhost/shell/index.html">'), "cockpit+ws://HOST/"),
    (
        "Teleport",
        "/web/cluster/example.org/console/node/7a1c/root",
        (200, [], '<meta name="grv_bearer_token" content="">'),
        "teleport+ws://HOST/example.org/7a1c?user=root",
    ),
    ("Coder", "/@joe/dev/terminal", (200, [("X-Coder-Build-Version", "v2.20.0")], ""), "coder+ws://HOST/AGENT"),
    (
        "Coder",
        f"/api/v2/workspaceagents/{AGENT}/pty",
        (401, [("X-Coder-Build-Version", "v2.20.0")], ""),
        f"coder+ws://HOST/{AGENT}",
    ),
    ("Kubernetes", "/", (401, [], STATUS), "k8s+ws://HOST/NAMESPACE/POD"),
    ("Kubernetes", "/api/v1/namespaces/lab/pods/web-1", (401, [], STATUS), "k8s+ws://HOST/lab/web-1"),
    ("Jupyter", "/lab/tree/a.ipynb", (200, [], "<title>JupyterLab</title>"), "jupyter+ws://HOST/"),
    ("Jupyter", "/user/joe/lab", (404, HUB, ""), "jupyter+ws://HOST/user/joe/"),
    ("Jupyter", "/j/hub/login", (200, HUB, ""), "jupyter+ws://HOST/j/user/{user}/"),
    ("Jupyter", "/tree", (200, [("Set-Cookie", "username-h-80=x; Path=/")], ""), "jupyter+ws://HOST/"),
]


@pytest.mark.parametrize(("name", "path", "page", "target"), SEEN)
def test_a_kind_is_known_by_what_its_server_answers(name: str, path: str, page: Page, target: str) -> None:
    with serving({path: page}) as site:
        url = f"http://127.0.0.1:{site.port}{path}"
        assert look(url) == f"{url} looks like {name}: --target '{target.replace('HOST', f'127.0.0.1:{site.port}')}'"
    assert site.asked == [path]


def test_what_is_advised_is_a_target() -> None:
    assert {name for name, *_ in SEEN} == {kind.name for kind in PAGE_KINDS}
    for *_, target in SEEN:
        assert _native.target(target.replace("HOST", "h:1")).startswith(target.partition("HOST")[0])


def test_a_redirect_at_the_same_host_is_followed_and_no_other_page_is_asked_for() -> None:
    moved: Page = (302, [("Location", "/hub/login?next=%2Fhub%2F")], "")
    with serving({"/": moved, "/hub/login": (200, HUB, "")}) as site:
        place = f"127.0.0.1:{site.port}"
        assert (
            look(f"http://{place}/")
            == f"http://{place}/ looks like Jupyter: --target 'jupyter+ws://{place}/user/{{user}}/'"
        )
    assert site.asked == ["/", "/hub/login?next=%2Fhub%2F"]


def test_no_other_host_is_asked() -> None:
    with serving({"/": (200, [("Server", "GoTTY")], "")}) as other:
        elsewhere = f"http://localhost:{other.port}/?code=1"
        with serving({"/": (302, [("Location", elsewhere)], "")}) as site:
            said = look(f"http://127.0.0.1:{site.port}/")
    assert said.endswith("leads to another host, localhost, and looks like no web terminal that Cuesta knows")
    assert (len(site.asked), other.asked) == (1, [])


def test_redirects_in_a_circle_end() -> None:
    with serving({"/": (302, [("Location", "/")], "")}) as site:
        assert "redirects in a circle and looks like no web terminal" in look(f"http://127.0.0.1:{site.port}/")
    assert site.asked == ["/"] * 6


def test_a_long_page_is_not_read_to_its_end() -> None:
    sign = "<title>WeTTY</title>"
    with serving({"/a": (200, [], " " * 999_000 + sign), "/b": (200, [], " " * 1_000_000 + sign)}) as site:
        said = [look(f"http://127.0.0.1:{site.port}/{page}") for page in "ab"]
    assert [" looks like WeTTY" in each for each in said] == [True, False]


def test_nothing_that_a_server_says_and_no_secret_is_shown() -> None:
    with serving({"/": (200, [("Server", "x\x1b[31m")], "<title>geheim</title>")}) as site:
        place = f"127.0.0.1:{site.port}"
        assert look(f"http://{place}/?auth=geheim#geheim") == (
            f"http://{place}/ answers 200 and looks like no web terminal that Cuesta knows"
        )
        assert site.asked == ["/?auth=geheim"]
        assert (
            look(f"http://joe:geheim@{place}/") == f"http://{place}/: an address never has a user's name and password"
        )
        assert len(site.asked) == 1


def test_a_head_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_pages, "PATIENCE", 0.2)
    over = Event()

    def drip(connection: socket.socket) -> None:
        while not over.wait(0.01):
            connection.sendall(b"x")

    with speaking(drip) as url:
        assert look(url).endswith("no answer within 0.2 s")
        over.set()


def test_a_server_of_another_protocol_is_named_as_such() -> None:
    with speaking(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH\r\n")) as url:
        assert look(url).endswith("which kind of web terminal it is: it does not speak HTTP")


def test_a_certificate_that_is_not_trusted_is_reported(tmp_path: Path) -> None:
    with serving({}, make_certificate(tmp_path)) as site:
        said = look(f"https://127.0.0.1:{site.port}/")
        assert re.search(r"which kind of web terminal it is: its certificate is not trusted \(.*certificate.*\)$", said)
    assert site.asked == []


def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_pages, "PATIENCE", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        assert look(url).endswith("web terminal it is: no answer within 0.05 s")


def test_the_command_and_the_library_say_it(here: Path, cuesta: Cuesta, write: Write) -> None:
    with serving({"/t/": (200, [("Server", "ttyd/1.7.7")], "")}) as site:
        url = f"http://127.0.0.1:{site.port}/t/"
        says = f"{url} looks like ttyd: --target 'ttyd+ws://127.0.0.1:{site.port}/t/'"
        cuesta("run", "--tape", "bash", "--target", url).ends(Exit.USAGE, f"cuesta: {says}\n", "header server")
        cuesta("search", "--tape", "bash", "--target", url, "--limit", "echo.p95 < 1s").ends(Exit.USAGE, says)
        with pytest.raises(UsageError, match=re.escape(says)):
            library.run("bash", target=url)
        assert len(site.asked) == 3
        cuesta("run", "--tape", "bash", "--dry-run", "--target", url).ends(Exit.USAGE, "a page's address")
        write("plan.toml", f'tape = "bash"\ntarget = "{url}"\n')
        cuesta("run", "plan.toml").ends(Exit.BAD_INPUT, "a page's address")
        cuesta("check", "plan.toml").ends(Exit.BAD_INPUT, "a page's address")
        assert len(site.asked) == 3


REAL = {
    "ttyd": ("", "ttyd+ws://HOST/"),
    "gotty": ("", "gotty+ws://HOST/"),
    "wetty": ("", "wetty+ws://HOST/wetty"),
    "code-server": ("?folder=/tmp", "code-server+ws://HOST/"),
    "cockpit": ("system/terminal", "cockpit+ws://HOST/"),
    "k8s": ("api/v1/namespaces/default/pods/web-1/exec", "k8s+ws://HOST/default/web-1"),
    "jupyter": ("lab?token=b2f6e0c1a5", "jupyter+ws://HOST/"),
    "jupyterhub": ("lab", "jupyter+ws://HOST/user/joe/"),
}
"""For each real server: a page below its base, and the expected target."""


@pytest.mark.nightly
@pytest.mark.parametrize("kind", SERVERS)
def test_real_servers_are_known(kind: str, tmp_path: Path) -> None:
    page, target = REAL[kind]
    with SERVERS[kind](tmp_path) as server:
        said = look(f"http://127.0.0.1:{server.port}{server.base}{page}")
        assert said.endswith(f": --target '{target.replace('HOST', f'127.0.0.1:{server.port}')}'"), said


@pytest.mark.nightly
def test_real_servers_that_ask_for_a_login_are_known(tmp_path: Path) -> None:
    joe = Account("joe", "secret-x1")
    logins: dict[str, Callable[[Path], AbstractContextManager[WebServer]]] = {
        "ttyd": lambda folder: ttyd.serve(folder, account=joe),
        "GoTTY": lambda folder: gotty.serve(folder, account=joe),
        "Jupyter": lambda folder: jupyter.serve(folder, account=jupyter.PASSWORD),
        "Cockpit": lambda folder: cockpit.serve(folder, account=cockpit.JOE),
        "code-server": lambda folder: code_server.serve(folder, account=Account(password="secret-x1")),
    }
    for name, serve in logins.items():
        (tmp_path / name).mkdir()
        with serve(tmp_path / name) as server:
            said = look(f"http://127.0.0.1:{server.port}/")
        assert f" looks like {name}: " in said, said
