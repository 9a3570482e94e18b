"""How many lines this machine can still open to an address: each takes a local port."""

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from cuesta.engine.local.control_groups import PROC
from cuesta.engine.local.listener import LISTEN
from cuesta.errors import CuestaError

TIME_WAIT = "06"
"""The state of a connection that this side has closed, whose port will be free within a minute."""
WIDEST = (1024, 65535)
"""The ports that a range may have without harm."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The range of local ports, and how many lines they are still enough for."""

    first: int
    last: int
    free: int


def check_ports(lines: int, where: str, addresses: Collection[tuple[str, int]], proc: Path = PROC) -> None:
    """Raise CuestaError if fewer local ports are free than `lines` to `where`, whose `addresses` are given."""
    ports = count_ports(addresses, proc)
    if ports is None or lines <= ports.free:
        return
    first, last = WIDEST
    wider = f'widen it as root with `sysctl net.ipv4.ip_local_port_range="{first} {last}"`, or '
    remedy = f"{wider if ports.first > first or ports.last < last else ''}spread the users over more machines: --engine"
    raise CuestaError(
        f"this run opens {lines} lines to {where}, and {ports.free} local ports are free for them "
        "(net.ipv4.ip_local_port_range)",
        remedy,
    )


def count_ports(addresses: Collection[tuple[str, int]], proc: Path = PROC) -> Ports | None:
    """The local ports for connections to any of the addresses; None if the kernel does not tell.

    A port is in use for an address that it has a connection to, and for all if something listens there.
    """
    try:
        first, last = map(int, (proc / "sys/net/ipv4/ip_local_port_range").read_text().split())
    except (OSError, ValueError):
        return None
    taken = {kernel_form(*address): set[int]() for address in addresses} or {"": set()}
    listening = set(read_reserved(proc))
    for local, remote, state in read_sockets(proc):
        if state == LISTEN:
            listening.add(local)
        elif remote in taken and state != TIME_WAIT:
            taken[remote].add(local)
    in_range = range(first, last + 1)
    free = (len(in_range) - sum(port in in_range for port in ports | listening) for ports in taken.values())
    return Ports(first, last, sum(free))


def read_sockets(proc: Path) -> Iterator[tuple[int, str, str]]:
    """The local port, the remote address and the state of each TCP socket."""
    for table in ("net/tcp", "net/tcp6"):
        try:
            rows = (proc / table).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for _, local, remote, state, *_ in map(str.split, rows):
            yield int(local.rpartition(":")[2], 16), remote, state


def read_reserved(proc: Path) -> Iterator[int]:
    """The ports that the kernel gives to no connection: `8080,9148-9150`."""
    try:
        text = (proc / "sys/net/ipv4/ip_local_reserved_ports").read_text().strip()
    except OSError:
        return
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def kernel_form(address: str, port: int) -> str:
    """An address as /proc/net/tcp writes it: words of four bytes in the machine's order."""
    packed = ip_address(address.partition("%")[0]).packed
    words = struct.unpack(f"={len(packed) // 4}I", packed)
    return f"{''.join(f'{word:08X}' for word in words)}:{port:04X}"
