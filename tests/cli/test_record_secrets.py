"""Secrets typed at real programs during `cuesta record` are in no file; ordinary input is kept."""

import json
import random
import re
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.cli.test_record import PLAN
from tests.conftest import Cuesta, Write
from tests.daemons import AT_A_SHELL, sshd
from tests.person import Person
from tests.secret_places import FAR, PLACES, SHELL, Steps, command, prompted

LETTERS = "QzXvJkWqZjKx7VwYg3BfHp9Um5"
"""No four of these stand together by accident."""
GAPS = (0.0, 0.04)
"""Seconds between keys: of a paste and of a person."""

STEERING = re.compile(
    r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)|\x1b[P^_X][^\x1b]*\x1b\\|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]"
)


@pytest.fixture(autouse=True)
def _one_prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PS1", "$ ")
    for name in ("TMUX", "SSH_ASKPASS", "DISPLAY"):
        monkeypatch.delenv(name, raising=False)


def started(folder: Path, name: str, *more: str) -> Person:
    """Start recording one of the places into `folder`."""
    (folder / "notes").write_text("words\n")
    return Person(folder, "record", "-o", "session", *more, "--", *command(PLACES[name], folder))


def recorded(folder: Path, name: str, secret: str, gap: float, *more: str) -> Person:
    """Record into `folder` how a secret is typed at one of the places."""
    return played(started(folder, name, *more), PLACES[name].steps, secret, gap)


def played(person: Person, steps: Steps, secret: str, gap: float) -> Person:
    person.key_gap = gap
    person.sees("three times\r\n")  # the recorder prints the command, which contains the prompt
    steps(person, secret)
    assert person.sees_the_end() == Exit.GOOD, person.seen
    return person


def events(cast: Path, code: str) -> list[str]:
    rows = (json.loads(row) for row in cast.read_text(encoding="utf-8").splitlines()[1:])
    return [data for _, kind, data in rows if kind == code]


def readings(folder: Path) -> dict[str, str]:
    """All texts in the files, and texts that can be joined from their parts."""
    tape, cast = folder / "session.tape", folder / "session.cast"
    outputs = [STEERING.sub("", text) for text in events(cast, "o")]
    letters = ["".join(c for c in text if c.isprintable() and c != "*") for text in outputs]
    typed = re.findall(r"""Type(?:@\S+)? (["'`])(.*?)\1""", tape.read_text(encoding="utf-8"))
    return {
        "names": " ".join(path.name for path in folder.iterdir()),
        "tape": tape.read_text(encoding="utf-8"),
        "typed on the tape": "".join(text for _, text in typed),
        "cast": cast.read_text(encoding="utf-8"),
        "input": "".join(events(cast, "i")),
        "output": "".join(letters),
        "latest output": "".join(text[-1:] for text in letters),
    }


def leaks(text: str, secret: str) -> list[str]:
    """All pieces of four characters of a secret, forwards or backwards, that are in a text."""
    parts = [one[at : at + 4] for one in (secret, secret[::-1]) for at in range(len(one) - 3)]
    return [part for part in parts if part in text]


def hides(folder: Path, person: Person, secret: str) -> None:
    """Assert that no file contains a part of the secret, and that the tape can be played."""
    files = [path for path in folder.iterdir() if path.name.startswith("session")]
    assert {path.suffix for path in files} == {".tape", ".cast"}
    pieces = {where: leaks(text, secret) for where, text in readings(folder).items()}
    assert not any(pieces.values()), (secret, pieces)
    message = person.seen.decode().rsplit("cuesta: recorded ", 1)[-1]
    assert "hidden, because the screen did not show it" in message
    assert not leaks(message, secret)
    assert re.search(r"\$\{(secret|password)(_\d)?\}", (folder / "session.tape").read_text(encoding="utf-8"))
    assert main(["check", str(folder / "session.tape")]) == Exit.GOOD


def hides_at_any_speed(
    folders: pytest.TempPathFactory, start: Callable[[Path], Person], steps: Steps, dice: random.Random
) -> None:
    """Type another secret at each speed, in concurrent sessions, and assert that none is in any file."""
    folder = [folders.mktemp("recorded") for _ in GAPS]
    secrets = ["".join(dice.sample(LETTERS, dice.randint(6, 14))) for _ in GAPS]
    people = [start(each) for each in folder]  # start them before there are threads, because starting a process forks
    with ThreadPoolExecutor() as sessions:
        done = list(sessions.map(lambda person, secret, gap: played(person, steps, secret, gap), people, secrets, GAPS))
    for each, person, secret in zip(folder, done, secrets, strict=True):
        hides(each, person, secret)


@pytest.mark.parametrize("name", PLACES)
def test_no_secret_is_in_any_file(tmp_path_factory: pytest.TempPathFactory, name: str, dice: random.Random) -> None:
    hides_at_any_speed(tmp_path_factory, lambda folder: started(folder, name), PLACES[name].steps, dice)


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sshd(tmp_path_factory.mktemp("host"), AT_A_SHELL) as host:
        yield host.target


@pytest.mark.parametrize("name", FAR)
def test_no_secret_is_in_any_file_of_a_session_over_ssh(
    tmp_path_factory: pytest.TempPathFactory, far: str, name: str, dice: random.Random
) -> None:
    def start(folder: Path) -> Person:
        return Person(folder, "record", "-o", "session", "--target", far)

    hides_at_any_speed(tmp_path_factory, start, FAR[name], dice)


def test_a_password_for_ssh_is_in_no_file(tmp_path_factory: pytest.TempPathFactory, here: Path) -> None:
    with sshd(tmp_path_factory.mktemp("host"), "Match all", "PasswordAuthentication yes") as host:
        known = f"UserKnownHostsFile={host.home}/.ssh/known_hosts"
        ssh = ("ssh", "-F", "none", "-o", known, "-o", "NumberOfPasswordPrompts=1", "-p", str(host.port))
        person = Person(here, "record", "-o", "session", "--", *ssh, host.place.split(":")[0])
        hides(here, played(person, prompted("password: "), "vW9mVgk73jxB", 0.02), "vW9mVgk73jxB")


def test_a_secret_in_a_foreign_cast_is_not_in_its_tape(here: Path, cuesta: Cuesta) -> None:
    recorded(here, "whiptail", "vW9mVgk73jxB", 0.02, "--keep-all")
    (here / "session.cast").rename(here / "vW9mVgk73jxB.cast")
    (here / "session.tape").unlink()
    text = cuesta("record", "--from", "vW9mVgk73jxB.cast").ends().out
    assert "vW9mVgk73jxB.cast itself still holds what is hidden here" in text
    tapes = list(here.glob("*.tape"))
    assert [tape.name for tape in tapes] == ["session.tape"]
    assert not leaks(tapes[0].read_text(encoding="utf-8"), "vW9mVgk73jxB")


def test_keep_all_hides_nothing(here: Path) -> None:
    person = recorded(here, "read-s", "vW9mVgk73jxB", 0.02, "--keep-all")
    assert 'Type "vW9mVgk73jxB"' in (here / "session.tape").read_text(encoding="utf-8")
    assert "vW9mVgk73jxB" in "".join(events(here / "session.cast", "i"))
    assert {path.stat().st_mode & 0o777 for path in here.glob("session.*")} == {0o600}
    assert "kept in clear, because of --keep-all" in person.seen.decode()


def test_the_end_lists_hidden_and_visible_entries(here: Path) -> None:
    person = recorded(here, "read-s", "vW9mVgk73jxB", 0.02)
    text = person.seen.decode().rsplit("cuesta: recorded ", 1)[-1]
    assert re.search(r'after \d+\.\d s, in row 2, behind "Code:": 12 keys -> \$\{secret_1\}', text)
    assert "kept, because the screen showed it: 25 keys in 2 places" in text
    assert "--data USERS.csv   (whose first row is secret_1)" in text


def test_a_tape_with_a_secret_plays_with_the_users_own(here: Path, write: Write, cuesta: Cuesta) -> None:
    ask = "bash -c 'read -s -p Code: x; echo $x >>got; echo; echo done; read y'"
    person = Person(here, "record", "-o", "session", "--", *shlex.split(ask))
    person.sees("three times\r\n")
    prompted("Code:")(person, "vW9mVgk73jxB")
    person.sees("done")
    person.types("\r")
    assert person.sees_the_end() == Exit.GOOD
    (here / "got").unlink()
    write("users.csv", "secret_1\nswordfish\nsesame\n")
    write("session.toml", PLAN.format(tape="session.tape", shell=ask))
    summary = cuesta("run", "session.toml", "--quiet", "--json", "-", "--out", "out").ends().json
    assert summary["errors"]["count"] == 0
    assert {each["transaction"] for each in summary["classes"]} >= {"secret_1"}
    assert set((here / "got").read_text().split()) == {"swordfish", "sesame"}


def bash(person: Person) -> None:
    """Commands, edited, completed and repeated."""
    person.sees("$ ")
    for row in ("ls -l /", "echo 'some words' | wc", 'for i in 1 2 3; do echo "$i"; done', "cat notes", "type cat"):
        person.types(row + "\r")
        person.sees("\r\n")
        person.sees("$ ")
    for keys in (
        "cat no\t\r",
        "\x1b[A\r",
        "echo there\x01\x1b[C\x1b[C\x1b[C\x1b[C hello\r",
        "echo helo\x7flo\r",
        "exit\r",
    ):
        person.rests()
        person.commands(keys)


def edits(person: Person, question: str, answer: str, *steps: tuple[str, str]) -> None:
    """Work at an editor, which is asked something first, so that it reads keys: each step is a command, and a text."""
    person.sees("words")
    person.types(question, shown=False)
    person.sees(answer)
    for command_keys, text in steps:
        person.rests()
        person.commands(command_keys)
        person.rests()
        person.commands(text)


def vim(person: Person) -> None:
    """Text, commands of the normal mode and of the command line."""
    texts = (("i", "the quick brown fox\rjumps"), ("\x1b", ""), ("kddpo", "over the lazy dog"))
    edits(person, "\x07", "--100%--", *texts, ("\x1b", ":set nu\r"), ("", "/fox\r"), ("", ":wq\r"))


def emacs(person: Person) -> None:
    """Text, a command by its name, a search, saving."""
    texts = (("", "the quick brown fox\rjumps over"), ("\x01", "the lazy dog, "))
    edits(person, "\x18=", "Char: w", *texts, ("\x1bx", "auto-fill-mode\r"), ("\x18\x13\x18\x03", ""))


def nano(person: Person) -> None:
    """Text, a search, saving."""
    texts = (("", "the quick brown fox\rjumps over"), ("\x17", "dog\r"))
    edits(person, "\x03", "[ line ", *texts, ("\x0f\r\x18", ""))


def pager(person: Person) -> None:
    """Pages and a search."""
    person.sees("row 1")
    person.rests()
    person.commands("  b/row 90\rnq")


ORDINARY = {
    "bash": (SHELL, bash),
    "vim": (("vim", "-n", "-i", "NONE", "notes"), vim),
    "emacs": (("emacs", "-nw", "-Q", "notes"), emacs),
    "nano": (("nano", "-I", "notes"), nano),
    "less": (("less", "rows"), pager),
}


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_input_is_not_hidden(here: Path, name: str, cuesta: Cuesta) -> None:
    (here / "notes").write_text("words\n")
    (here / "rows").write_text("".join(f"row {number}\n" for number in range(1, 201)))
    program, steps = ORDINARY[name]
    person = Person(here, "record", "-o", "session", "--", *program)
    steps(person)
    assert person.sees_the_end() == Exit.GOOD
    kept = sum(map(len, re.findall(r"[ -~]", "".join(events(here / "session.cast", "i")))))
    text = person.seen.decode().rsplit("cuesta: recorded ", 1)[-1]
    hidden = sum(int(keys) for keys in re.findall(r": (\d+) keys? -> ", text))
    assert kept >= 0.98 * (kept + hidden), text
    cuesta("check", "session.tape").ends()
