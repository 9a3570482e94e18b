"""People with accounts at real web terminals: by user and password, by token, by certificate, each in its own place."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.at_a_shell import PLAN, TAPE, USERS
from tests.conftest import Cuesta, Write
from tests.enough import ended_after
from tests.test_web_terminals import RUN, target_of
from tests.web_servers import cockpit, code_server, gotty, jupyter, jupyterhub, kubernetes, ttyd
from tests.web_servers.certificates import make_certificate
from tests.web_servers.server import Account, WebServer

JOE = Account("joe", "secret-x1")
TOKEN = Account(token="b2f6e0c1a5")


def by_password(kind: str, server: WebServer) -> tuple[str, str]:
    account = server.account
    return target_of(kind, server), f"user,password\n{account.user or 'joe'},{account.password}\n"


def over_tls(target: str, server: WebServer) -> str:
    assert server.certificate
    return f"{target}{'&' if '?' in target else '?'}ca={server.certificate.authority}"


@contextmanager
def ttyd_by_basic(folder: Path) -> Iterator[tuple[str, str]]:
    with ttyd.serve(folder, account=JOE, certificate=make_certificate(folder)) as server:
        target, table = by_password("ttyd", server)
        yield over_tls(target, server), table


@contextmanager
def jupyter_by_password(folder: Path) -> Iterator[tuple[str, str]]:
    with jupyter.serve(folder, account=jupyter.PASSWORD, base="/user/joe/") as server:
        target, table = by_password("jupyter", server)
        yield f"{target}?login=once", table


@contextmanager
def cockpit_by_pam(folder: Path) -> Iterator[tuple[str, str]]:
    with cockpit.serve(folder, account=cockpit.JOE) as server:
        yield by_password("cockpit", server)


@contextmanager
def gotty_by_basic(folder: Path) -> Iterator[tuple[str, str]]:
    with gotty.serve(folder, account=JOE) as server:
        yield by_password("gotty", server)


@contextmanager
def code_server_by_password(folder: Path) -> Iterator[tuple[str, str]]:
    with code_server.serve(folder, account=JOE) as server:
        yield by_password("code-server", server)


@contextmanager
def hub_of_users(folder: Path) -> Iterator[tuple[str, str]]:
    with jupyterhub.serve(folder, "joe", "ann") as server:
        yield f"jupyter+ws://127.0.0.1:{server.port}/user/{{user}}/", (folder / "users.csv").read_text()


@contextmanager
def pods_by_token(folder: Path) -> Iterator[tuple[str, str]]:
    with kubernetes.serve(folder, account=TOKEN) as server:
        target = target_of("k8s", server).replace("web-1", "{pod}") + "&protocol=base64"
        yield target, f"pod,token\nweb-1,{TOKEN.token}\nweb-2,{TOKEN.token}\n"


@contextmanager
def pods_by_certificate(folder: Path) -> Iterator[tuple[str, str]]:
    own, joe = make_certificate(folder), make_certificate(folder, "joe")
    with kubernetes.serve(folder, certificate=own, clients=own.authority) as server:
        target = over_tls(target_of("k8s", server), server)
        yield f"{target}&cert={joe.file}&key={joe.key}", "user\njoe\n"


QUICK = [ttyd_by_basic, jupyter_by_password]
NIGHTLY = [
    cockpit_by_pam,
    gotty_by_basic,
    code_server_by_password,
    hub_of_users,
    pods_by_token,
    pods_by_certificate,
]


@pytest.mark.parametrize("host", [*QUICK, *(pytest.param(host, marks=pytest.mark.nightly) for host in NIGHTLY)])
def test_people_log_in_and_type(host: object, here: Path, write: Write, cuesta: Cuesta) -> None:
    assert callable(host)
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with host(here) as (target, table), ended_after(5):
        write("people.csv", table)
        summary = cuesta(*RUN, target, "--data", "people.csv").ends(Exit.INTERRUPTED).json
    assert (summary["invalid_because"], summary["errors"]["by_name"]) == ([], {})
    assert summary["session"]["count"] == USERS
    assert summary["transactions"]["count"] >= 5
    # The trial line's login, and the one that all users share (`login=once`).
    logins = (here / "daemon.log").read_text(errors="replace").count(" 302 POST /user/joe/login")
    assert logins == (2 if host is jupyter_by_password else 0)


@pytest.mark.parametrize("host", [*QUICK, *(pytest.param(host, marks=pytest.mark.nightly) for host in NIGHTLY[:3])])
def test_a_wrong_password_is_refused_by_name(host: object, here: Path, write: Write, cuesta: Cuesta) -> None:
    assert callable(host)
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    with host(here) as (target, table):
        write("people.csv", table.replace("secret-x1", "falsch-y2"))
        told = cuesta(*RUN, target, "--data", "people.csv").ends(Exit.FAILED).err
    assert any(words in told for words in ("status 401", "the password was not accepted", "Incorrect password")), told
    assert "falsch-y2" not in told
