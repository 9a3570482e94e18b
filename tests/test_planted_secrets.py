"""Secrets that users type, that a host prints back, or that stand in an address are in no file and message of a run."""

import base64
import json
import shlex
from pathlib import Path
from urllib.parse import quote

import pytest

from cuesta.errors import Exit
from tests.conftest import Cuesta, Write
from tests.daemons import free_port
from tests.quoting_server import quoting

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


WEB_TAPE = """
Set KeyRate 50cps
Set WaitTimeout 5s
Wait+Line /[$] $/
Forever
  Type "a" Enter
  Wait+Line /[$] $/
End
"""
CELLS = {"password": "xQ7 v/Word", "token": "zK4mToken", "cookie": "lang=en; session=pW9nCookie", "badge": "rT5 Badge"}
SHARED = "vB3hShared"
BASIC = base64.b64encode(f"ann:{CELLS['password']}".encode()).decode()
PLAIN = (*CELLS.values(), "pW9nCookie", SHARED, BASIC)
PLANTED = tuple(dict.fromkeys((*PLAIN, *(quote(secret, safe="") for secret in PLAIN))))
"""All that must not be found: secrets, and how they were sent."""
LOGINS = {
    "ttyd": ("ttyd+ws://127.0.0.1:PORT/", ["password", "cookie"], CELLS["password"] + " " + BASIC + " pW9nCookie"),
    "bare": (
        "ws://127.0.0.1:PORT/{badge}/x?token={token}",
        ["token", "cookie", "badge"],
        " ".join([CELLS["token"], CELLS["cookie"], CELLS["badge"], quote(CELLS["badge"])]),
    ),
    "shared": ("ws://127.0.0.1:PORT/#token=env:PLANTED", [], SHARED),
}
"""Web terminals: the target, columns of the users' table besides `user`, and what their server quotes."""
QUICK = {("text", "ttyd"), ("output", "bare"), ("later", "shared")}


@pytest.mark.parametrize(
    ("way", "login"),
    [
        pytest.param(way, login, marks=[] if (way, login) in QUICK else [pytest.mark.nightly])
        for way in ("output", "page", "text", "json", "redirect", "close", "later")
        for login in (LOGINS if way != "page" else ["ttyd"])  # the only one that asks for a page first
    ],
)
def test_no_secret_of_a_web_terminal_is_anywhere_though_its_server_quotes_them(
    here: Path, write: Write, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch, login: str, way: str
) -> None:
    target, columns, quotes = LOGINS[login]
    write("web.tape", WEB_TAPE)
    write("users.csv", f"{','.join(['user', *columns])}\n{','.join(['ann', *(CELLS[name] for name in columns)])}\n")
    monkeypatch.setenv("PLANTED", SHARED)
    if way == "output":  # a program prints them as they are
        quotes = " ".join(CELLS[name] for name in columns) or SHARED
    with quoting(quotes, way, good=1) as server:  # the first session is the check before the run
        place = ["--target", target.replace("PORT", str(server.port))]
        place += ["--data", "users.csv"] if columns else []
        place += ["--secret", "badge"] if "badge" in columns else []
        times = ["--users", "1", "--settle", "0s", "--measure", "500ms", "--log-transactions", "--cast", "0"]
        run = ("run", "web.tape", *place, *times, "--meters", "none")
        all_said = [cuesta(*run, "--dry-run").ends(), cuesta(*run, "--out", "out", "--verbose", "--json", "run.json")]
        all_said.append(cuesta("report", "out", "--out", "page.html", "--junit", "junit.xml").ends())
        if way in {"page", "text", "json", "redirect"}:
            refused = cuesta(*run).ends(Exit.FAILED)
            assert "…" in refused.err
            all_said.append(refused)
    summary = json.loads((here / "run.json").read_text())
    assert bool(summary["errors"]["count"] or summary["errors"]["before"]) == (way != "output"), summary["errors"]
    if way != "output":
        assert "…" in str(summary["errors"]["said"])
    own = ("web.tape", "users.csv")
    texts = {str(path): path.read_bytes().decode(errors="replace") for path in files(here) if path.name not in own}
    texts["messages"] = "".join(ended.out + ended.err for ended in all_said)
    assert [(where, secret) for where, text in texts.items() for secret in PLANTED if secret in text] == []
