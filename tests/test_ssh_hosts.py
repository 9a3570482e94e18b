"""Users at a real OpenSSH server: keys, aliases, agents, tables of users. `scripts/setup --tests` installs it."""

import getpass
import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.at_a_shell import PLAN, TAPE
from tests.conftest import Write
from tests.daemons import AT_A_SHELL, Host, sshd
from tests.enough import counted, ended_after, ended_when, measured, measured_rows
from tests.person import Person

Serve = Callable[..., Host]


@pytest.fixture
def serve(here: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """A function that starts sshd; its home folder becomes ours."""
    running = ExitStack()

    def start(more: str = "MaxStartups 100") -> Host:
        host = running.enter_context(sshd(here, more, AT_A_SHELL))
        monkeypatch.setenv("HOME", str(host.home))
        monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        return host

    with running:
        yield start


@pytest.fixture
def run(write: Write, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, dict[str, Any]]]:
    """A function that runs users at a target until some sums are measured; returns the exit code and the summary."""
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)

    def go(target: str, *more: str, sums: int = 10) -> tuple[int, dict[str, Any]]:
        with ended_after(sums):
            code = main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-", *more])
        return code, json.loads(capsys.readouterr().out)

    return go


def is_good(result: tuple[int, dict[str, Any]]) -> None:
    code, summary = result
    assert (code, summary["invalid_because"], summary["errors"]["by_name"]) == (Exit.INTERRUPTED, [], {})
    assert 0 < summary["echo"]["p50"] < summary["response"]["p99"]


def refused(capsys: pytest.CaptureFixture[str], target: str) -> str:
    """The message of a run that cannot begin."""
    assert main(["run", "plan.toml", "--target", target, "--out", "refused"]) == Exit.FAILED
    assert not Path("refused").exists()
    return capsys.readouterr().err


def test_tens_of_users_type_at_openssh_with_a_key(serve: Serve, run: Any, here: Path) -> None:
    host = serve()
    is_good(run(f"ssh://{host.place}?identity={here}/client", "--users", "30", "--stagger", "60ms", sums=90))
    record = json.loads(next(here.glob("out/**/run.json")).read_text())
    assert "obscure=off" in json.dumps(record)


def test_keys_come_from_the_ssh_agent(
    serve: Serve, run: Any, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve()
    agent = subprocess.Popen(["ssh-agent", "-D", "-a", here / "agent"], stdout=subprocess.DEVNULL)
    try:
        monkeypatch.setenv("SSH_AUTH_SOCK", str(here / "agent"))
        wait_for_socket(here / "agent")
        subprocess.run(["ssh-add", "-q", here / "client"], check=True)
        (here / "client").unlink()
        is_good(run(f"ssh://{host.place}"))
        assert f"did not let {getpass.getuser()} in" in refused(capsys, f"ssh://{host.place}?agent=off")
    finally:
        agent.terminate()
        agent.wait()


def wait_for_socket(path: Path) -> None:
    while True:
        with suppress(FileNotFoundError, ConnectionRefusedError), closing(socket.socket(socket.AF_UNIX)) as client:
            client.connect(str(path))
            return


def test_the_user_comes_from_the_table_and_no_password_is_recorded(
    serve: Serve, run: Any, here: Path, write: Write
) -> None:
    host = serve()
    write("users.csv", f"user,password\n{getpass.getuser()},geheimnis\n")
    is_good(run(f"ssh://127.0.0.1:{host.port}?identity={here}/client", "--data", "users.csv"))
    written = [path for path in here.glob("out/**/*") if path.is_file()]
    assert written
    assert not [path for path in written if b"geheimnis" in path.read_bytes()]


def test_refusals_of_a_full_host_are_counted_by_name_and_every_user_gets_in(
    serve: Serve, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve("MaxStartups 2:100:2")
    write("shell.tape", TAPE)
    write("plan.toml", PLAN.replace('settle = "1s"', "settle = 0").replace('"50ms"', '"0s"'))

    def everyone_is_in(out: Path) -> bool:
        return any(row["active"] == 8 for row in measured_rows(out))

    with ended_when(everyone_is_in):
        command = ["run", "plan.toml", "--target", f"ssh://{host.place}?identity={here}/client", "--users", "8"]
        code = main([*command, "--out", "out", "--quiet", "--json", "-"])
    summary = json.loads(capsys.readouterr().out)
    assert (code, set(summary["errors"]["by_name"]), summary["lost_users"]) == (Exit.INTERRUPTED, {"max-startups"}, 0)
    assert summary["login"]["count"] == 8


def test_refusals_of_a_full_host_do_not_lead_to_the_advice_to_connect_faster(
    serve: Serve, run: Any, here: Path, write: Write
) -> None:
    host = serve("MaxStartups 2:100:2")
    soon = PLAN.replace('settle = "1s"', 'settle = "100ms"').replace('"50ms"', '"0s"')
    write("plan.toml", soon.replace("settled = false", "settled = true"))
    _, summary = run(f"ssh://{host.place}?identity={here}/client", "--users", "12", sums=1)
    because = summary["invalid_because"]
    assert any(said.startswith("only ") and "further apart (--stagger)" in said for said in because), because
    assert not any("faster" in said for said in because)


def test_an_unknown_host_key_is_reported_before_the_run(
    serve: Serve, run: Any, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve()
    (host.home / ".ssh/known_hosts").unlink()
    assert "accept-new" in refused(capsys, f"ssh://{host.place}?identity={here}/client")
    is_good(run(f"ssh://{host.place}?identity={here}/client&known_hosts=accept-new", "--out", "new"))


def test_a_password_in_a_target_is_refused_and_not_repeated(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("shell.tape", TAPE)
    code = main(["run", "shell.tape", "--target", "ssh://joe:geheimnis@h"])
    said = capsys.readouterr()
    assert code != Exit.GOOD
    assert "--data" in said.err
    assert "geheimnis" not in said.out + said.err
    code = main(["run", "shell.tape", "--target", "ssh://joe@h?password=geheimnis"])
    said = capsys.readouterr()
    assert code != Exit.GOOD
    assert "geheimnis" not in said.out + said.err


def test_users_go_through_another_host_as_the_configuration_says(
    serve: Serve, run: Any, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve()
    name, port = getpass.getuser(), host.port
    login = f"HostName 127.0.0.1\n  Port {port}\n  User {name}\n  IdentityFile {here}/client\n  IdentitiesOnly yes\n"
    (host.home / ".ssh/config").write_text(
        f"Host bastion\n  {login}Host inside\n  {login}  ProxyJump bastion\n"
        "Match originalhost hidden\n  ProxyJump nowhere.invalid\n  BindAddress 127.0.0.2\n"
    )
    is_good(run("ssh://inside", "--agents", "2"))
    assert "bindaddress 127.0.0.2" in refused(capsys, "ssh://hidden")


def test_settings_without_effect_are_listed(
    serve: Serve, run: Any, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve()
    (here / "config").write_text(f"IdentityFile {here}/client\nForwardAgent yes\nCompression yes\n")
    target = f"ssh://{host.place}?config={here}/config&known_hosts={host.home}/.ssh/known_hosts"
    with ended_after(1):
        assert main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet"]) == Exit.INTERRUPTED
    assert "Cuesta ignores: 127.0.0.1: compression yes; 127.0.0.1: forwardagent yes" in capsys.readouterr().err


def test_what_a_session_says_last_and_how_it_ends_are_told(
    serve: Serve, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    host = serve("MaxStartups 100\nForceCommand echo no more sessions today; exit 3")
    write("shell.tape", TAPE)
    write("plan.toml", PLAN.replace("[validity]", "[validity]\nlost_users = 1"))
    with ended_when(lambda out: counted(out, "exited-at-start") > 1):
        target = f"ssh://{host.place}?identity={here}/client"
        main(["run", "plan.toml", "--target", target, "--out", "out", "--quiet", "--json", "-"])
    said = json.loads(capsys.readouterr().out)["errors"]["said"]["exited-at-start"]
    assert said.endswith("exited with status 3; it said last: no more sessions today")


def test_a_passphrase_is_requested_once_and_is_not_in_the_record(serve: Serve, here: Path, write: Write) -> None:
    host = serve()
    lock = ["ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", f"{here}/client"]
    subprocess.run(lock, check=True)
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    target = f"ssh://{host.place}?identity={here}/client"
    person = Person(here, "run", "plan.toml", "--target", target, "--agents", "2", "--out", "out")
    for answer in ("open barley", "open sesame"):
        person.sees(f"passphrase for {here}/client")
        person.types(f"{answer}\r", shown=False)
    while not measured(here / "out"):
        person.rests()
    person.types("\x03", shown=False)
    assert person.sees_the_end() == Exit.INTERRUPTED
    assert person.seen.count(b"passphrase for") == 2
    assert b"sesame" not in person.seen
    written = [path for path in here.glob("out/**/*") if path.is_file()]
    assert written
    assert not [path for path in written if b"sesame" in path.read_bytes()]


def test_a_passphrase_without_a_terminal_to_ask_is_reported(
    serve: Serve, here: Path, write: Write, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    host = serve()
    monkeypatch.setattr("cuesta.cli.control.ask", lambda _: "")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", here / "client"], check=True)
    write("shell.tape", TAPE)
    write("plan.toml", PLAN)
    assert "has a passphrase" in refused(capsys, f"ssh://{host.place}?identity={here}/client")
