"""An ssh that runs Cuesta on another machine, and rows over its pipes."""

import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import IO, Any

from cuesta import __version__
from cuesta.engine.local.child_processes import SSH_REMEDIES, end_child, in_one_line, read_errors
from cuesta.engine.node_needs import Lack
from cuesta.engine.remote.row_stream import SocketStream
from cuesta.errors import CuestaError, find_remedy

OPTIONS = {
    "BatchMode": "yes",
    "ConnectTimeout": 10,
    "ControlPath": "none",  # a connection of its own, to which the options below apply
    "ServerAliveInterval": 2,
    "ServerAliveCountMax": 3,
}
COMMAND = """sh -c 'PATH="$PATH:$HOME/.local/bin"; exec cuesta run --as-node'"""
"""In any login shell; few of them look where `pip install --user` puts programs unless a person logs in."""
GREETING_TIMEOUT = 40.0
"""Seconds within which the node must have said what it is."""
ALIVE_EVERY = 2.0
"""Seconds between empty rows, by which the node sees that the engine is there."""
END_TIMEOUT = 3.0
"""Seconds that ssh has to end, and to say why, once its connection has ended."""
REMEDIES = SSH_REMEDIES | {
    "not found": f"install it there, where ssh finds it: pip install --user cuesta=={__version__}",
    "no such flag": f"another version is installed there: pip install cuesta=={__version__}",
    "does not answer as": "`ssh NODE cuesta --version` must print one row, at once",
    "could not resolve": "name it as ssh does: a Host of ~/.ssh/config, a name, or an address",
}


@dataclass(frozen=True, slots=True)
class SshProcess:
    """An ssh, and the stream to what it runs on the node."""

    process: "subprocess.Popen[bytes]"
    stream: SocketStream
    errors: IO[bytes]

    def read_greeting(self) -> dict[str, Any] | Lack:
        """What the node says that it is, or why it does not."""
        match self.stream.receive_one(GREETING_TIMEOUT):
            case {"node": dict(described)}:
                return described
        why = self.why_ended()
        return Lack(why, find_remedy(why, REMEDIES))

    def why_ended(self) -> str:
        """Why the connection has ended, as ssh or Cuesta there said last."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_TIMEOUT)
        rows = read_errors(self.errors).splitlines()
        if said := in_one_line("\n".join(row.strip().rstrip(".") for row in rows[-2:])):
            return said
        code = self.process.returncode
        return "it does not answer as Cuesta does" if code is None else f"ssh ended with code {code}"


@contextmanager
def start_ssh(destination: str) -> Iterator[SshProcess]:
    """Run Cuesta on a machine during the block. Raises CuestaError if there is no ssh here."""
    options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
    own, other = socket.socketpair()
    ended = threading.Event()
    with tempfile.TemporaryFile() as errors, closing(SocketStream(own)) as stream, other:
        try:
            process = subprocess.Popen(
                ["ssh", "-T", *options, "--", destination, COMMAND],
                stdin=other.fileno(),
                stdout=other.fileno(),
                stderr=errors,
                start_new_session=True,  # so that Ctrl-C at the terminal reaches only the engine
            )
        except FileNotFoundError:
            raise CuestaError("--engine ssh: there is no ssh here", "install OpenSSH's client") from None
        other.close()
        threading.Thread(target=keep_alive, args=(stream, ended), daemon=True).start()
        try:
            yield SshProcess(process, stream, errors)
        finally:
            ended.set()
            stream.close()
            end_child(process, END_TIMEOUT)


def keep_alive(stream: SocketStream, ended: threading.Event) -> None:
    """Let the node see that the engine is there."""
    while not ended.wait(ALIVE_EVERY):
        stream.send({})
