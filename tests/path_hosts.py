"""Real hosts on the path of a key: daemons, multiplexers and relays, each with the tasks that a key must pass there."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.daemons import AT_A_SHELL, busybox, free_port, listening, sshd, telnetd
from tests.hosts.lines import module
from tests.web_servers import ttyd

SHELL_COMMAND = "env PS1='$ ' bash --norc --noprofile -i"
WORKER = "kworker"


@contextmanager
def at_telnetd(folder: Path) -> Iterator[str]:
    with telnetd(busybox, folder) as port:
        yield f"telnet://127.0.0.1:{port}"


def at_sshd(command: str) -> Callable[[Path], AbstractContextManager[str]]:
    """Start sshd, which runs a command for each user."""

    @contextmanager
    def serve(folder: Path) -> Iterator[str]:
        with sshd(folder, f"ForceCommand {command.format(folder=folder)}", "MaxStartups 100") as host:
            yield host.target

    return serve


@contextmanager
def at_ttyd(folder: Path) -> Iterator[str]:
    with ttyd.serve(folder) as server:
        yield f"ttyd+ws://127.0.0.1:{server.port}/"


@contextmanager
def at_terminal(_folder: Path) -> Iterator[str]:
    yield f"pty:{SHELL_COMMAND}"


@contextmanager
def at_event_loop(folder: Path) -> Iterator[str]:
    port = free_port()
    with listening([*module("event_loop"), str(port)], port, folder):
        yield f"tcp://127.0.0.1:{port}"


@contextmanager
def at_proxy(folder: Path) -> Iterator[str]:
    port = free_port()
    with telnetd(busybox, folder) as behind, listening([*module("event_loop"), str(port), str(behind)], port, folder):
        yield f"telnet://127.0.0.1:{port}"


@dataclass(frozen=True)
class PathHost:
    serve: Callable[[Path], AbstractContextManager[str]]
    tasks: tuple[str, ...]
    """A key's way, in order."""
    users: int = 3


def there_and_back(*tasks: str) -> tuple[str, ...]:
    """The way through processes with a terminal between each and the next, to the last and back."""
    way = [task for each in tasks for task in (WORKER, each)][1:]
    return (*way, *way[-2::-1])


LOOP = "event-loop"
HOSTS = {
    "telnetd": PathHost(at_telnetd, there_and_back("busybox", "bash")),
    "sshd": PathHost(at_sshd(AT_A_SHELL.removeprefix("ForceCommand ")), there_and_back("sshd", "bash")),
    "tmux": PathHost(
        at_sshd(f'tmux -f /dev/null -S {{folder}}/$$ new-session "{SHELL_COMMAND}"'),
        there_and_back("sshd", "tmux: server", "bash"),
    ),
    "screen": PathHost(
        at_sshd(f'SCREENDIR={{folder}}/screens screen -c /dev/null sh -c "{SHELL_COMMAND}"'),
        there_and_back("sshd", "screen", "bash"),
    ),
    "ttyd": PathHost(at_ttyd, there_and_back("ttyd", "bash")),
    "terminal": PathHost(at_terminal, (WORKER, "bash", WORKER)),
    "event loop": PathHost(at_event_loop, there_and_back(LOOP, "bash"), 30),
    "proxy": PathHost(at_proxy, (LOOP, *there_and_back("busybox", "bash"), LOOP)),
}
