"""What a target is: `KIND:REST`. A kind of line is named here, once for all of Python; the Rust half reads the rest."""

from urllib.parse import urlsplit

SYNTAX = (
    "`host:`, `tcp://HOST:PORT`, `telnet://HOST:PORT`, `ssh://USER@HOST`, "
    "`pty:COMMAND`, `pipe:COMMAND` or `serial:DEVICE`"
)
BUILTIN_HOST = "host:"
"""The built-in host, which a run starts itself."""
LISTEN = "telnet://127.0.0.1:0"
"""Where the built-in host listens unless told otherwise: at a free port."""
OWN_PROGRAMS = ("pty", "pipe")
"""Kinds whose rest is a command: the driver starts a program for each line."""
FILES = {"pty": 2, "pipe": 3, "serial": 2}
"""Descriptors that a line of the driver takes, where it is not one: a program's ends and its handle; a lock."""
PORTS = {"telnet": 23, "ssh": 22}
"""Where a host listens whose address does not say."""


def kind_of(target: str) -> str:
    return target.partition(":")[0]


def port_of(target: str) -> int:
    """The port of a target; 0 if it has none."""
    return urlsplit(target).port or PORTS.get(kind_of(target), 0)
