"""Secrets that users type, that a host prints back, or that stand in an address are in no file and message of a run."""

import shlex
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write
from tests.daemons import free_port

HOST = """
printf 'user: '; read user
stty -echo; printf 'word: '; read word; stty echo
printf '\\nno such user: %s/%s; say it: ' "$user" "$word"
stty -echo; read code; stty echo
for part in h x Q; do printf '%s' "$part"; done
printf '\\n\\033[1m%s\\033[m %s, %s\\n' "$word" "$code" "$user" >&2
exit 3
"""
"""Echoes names only, and prints all that it was told."""
TAPE = """
Set KeyRate 50cps
Wait+Screen /user:/
Type "${user}" Enter
Wait+Screen /word:/
Type "${word}" Enter
Wait+Screen /say it:/
Type "${code}" Enter
Wait+Screen /never/
"""
SECRETS = ("xQ7vWord", "zK4mCode", "pW9nUrl")


@pytest.fixture
def planted(here: Path, write: Write, cuesta: Cuesta) -> str:
    """A run in `out`, and files beside it; what it printed."""
    write("host.sh", HOST)
    write("login.tape", TAPE)
    write("users.csv", f"user,word,code\nann,{SECRETS[0]},{SECRETS[1]}\n")
    host = ["--target", f"pty:sh {shlex.quote(str(here / 'host.sh'))}", "--data", "users.csv", "--secret", "code"]
    meters = ["--meters", f"http://joe:{SECRETS[2]}@127.0.0.1:{free_port()}/metrics"]
    times = ["--users", "1", "--settle", "0s", "--measure", "4s", "--cast", "0", "--log-transactions"]
    outputs = ["--json", "summary.json", "--out", "out", "--verbose"]
    run = ("run", "login.tape", *host, *meters, *times)
    all_said = [
        cuesta(*run, "--dry-run").ends(),
        cuesta(*run, *outputs).ends(Exit.INVALID),
        cuesta("report", "out", "--out", "page.html", "--junit", "junit.xml").ends(),
    ]
    return "".join(ended.out + ended.err for ended in all_said)


def files(here: Path) -> list[Path]:
    """All files that Cuesta wrote."""
    own = ("host.sh", "login.tape", "users.csv")
    return [path for path in here.rglob("*") if path.is_file() and path.name not in own]


def test_no_secret_is_anywhere_and_only_the_owner_reads(here: Path, planted: str) -> None:
    cast = next((here / "out").rglob("user-0.cast")).read_text()
    assert "no such user: ann/********" in cast
    assert "ann" in planted
    assert "(hidden)" in planted
    texts = {str(path): path.read_bytes().decode(errors="replace") for path in files(here)} | {"messages": planted}
    assert [(where, secret) for where, text in texts.items() for secret in SECRETS if secret in text] == []
    modes = {path.name: path.stat().st_mode & 0o777 for path in files(here)}
    assert len(modes) > 10
    assert {name: mode for name, mode in modes.items() if mode != 0o600} == {}
    folders = {path.name: path.stat().st_mode & 0o777 for path in (here / "out", *(here / "out").rglob("*/"))}
    assert {name: mode for name, mode in folders.items() if mode != 0o700} == {}
