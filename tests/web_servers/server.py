"""A web-terminal server that runs, and how one is started."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tests.daemons import listening
from tests.web_servers.certificates import Certificate

ROOT = Path(__file__).parents[2]
SHELL = ["/bin/bash", "--norc", "--noprofile"]
PROMPT = "$ "


@dataclass(frozen=True)
class Account:
    """Who may use a server, and by what; an empty field is not asked for."""

    user: str = ""
    password: str = ""
    token: str = ""


NOBODY = Account()
"""No account: every connection has a shell."""


@dataclass(frozen=True)
class WebServer:
    """A server that listens on 127.0.0.1."""

    port: int
    pid: int
    base: str = "/"
    """The path that all its pages are under; it begins and ends with a slash."""
    account: Account = NOBODY
    certificate: Certificate | None = None
    """Its own, if it speaks TLS."""

    @property
    def scheme(self) -> str:
        return "wss" if self.certificate else "ws"

    @property
    def place(self) -> str:
        """What follows the protocol's name in a target: `ws://127.0.0.1:7681/`."""
        return f"{self.scheme}://127.0.0.1:{self.port}{self.base}"


class Serve(Protocol):
    """Starts a server, which ends with the block; `metered` as in `tests.daemons.listening`."""

    def __call__(self, folder: Path, *, metered: bool = False) -> AbstractContextManager[WebServer]: ...


def installed(server: str, program: str) -> str:
    """The path of what `scripts/web-servers` has made for a server; fails if it is missing."""
    path = ROOT / "target/web-servers" / server / program
    assert path.exists(), f"no {server}: ./scripts/setup --tests, or --nightly"
    return str(path)


@contextmanager
def started(command: list[str], port: int, folder: Path, metered: bool, **settings: str) -> Iterator[int]:
    """Start a server, with `settings` in its environment, whose shells have our prompt; yields its process number."""
    given = {"HOME": str(make_home(folder / "home")), "PS1": PROMPT, "SHELL": SHELL[0], **settings}
    environment = [f"{name}={value}" for name, value in given.items()]
    with listening(["env", *environment, *command], port, folder, metered) as pid:
        yield pid


def make_home(home: Path) -> Path:
    """Make a home folder, where also a shell that reads its start file has our prompt."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".bashrc").write_text(f"PS1='{PROMPT}'\n")
    return home
