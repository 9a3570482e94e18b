"""A wire whose frames pass through this process, which decides what becomes of each."""

import random
import selectors
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tests.daemons import needed
from tests.tmux.network import WIRE, Network, inside, ip

ETHERNET, IPV4, TMUX = 14, 20, 18
ALL_PROTOCOLS, OUTGOING = 3, 4
"""ETH_P_ALL, PACKET_OUTGOING."""

Frame = tuple[int, bytes]
"""The side that a frame came from, 0 (`a`) or 1 (`b`), and its octets."""


@contextmanager
def relayed(net: Network, fate: Callable[[Frame], Sequence[Frame]]) -> Iterator[None]:
    """Replace the wire of `a` and `b`: the third host takes each frame and sends on what `fate` returns for it."""
    ip("-n", net.a.namespace, "link", "delete", WIRE)
    sides = []
    for place, name in ((net.a, "left"), (net.b, "right")):
        peer = ("peer", "name", name, "netns", net.third.namespace)
        ip("link", "add", WIRE, "netns", place.namespace, "type", "veth", *peer)
        ip("-n", place.namespace, "address", "add", f"{place.v4}/24", "dev", WIRE)
        ip("-n", place.namespace, "link", "set", WIRE, "up")
        ip("-n", net.third.namespace, "link", "set", name, "up")
        offloads = (word for feature in ("tx", "tso", "gso") for word in (feature, "off"))
        ip("netns", "exec", place.namespace, needed("ethtool"), "-K", WIRE, *offloads)
        with inside(net.third):
            sides.append(socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
        sides[-1].bind((name, ALL_PROTOCOLS))
    end, told = socket.socketpair()
    thread = threading.Thread(target=_relay, args=(sides, told, fate))
    thread.start()
    try:
        yield
    finally:
        end.close()
        thread.join()
        for each in (*sides, told):
            each.close()


def _relay(sides: Sequence[socket.socket], told: socket.socket, fate: Callable[[Frame], Sequence[Frame]]) -> None:
    with selectors.DefaultSelector() as selector:
        for each in (*sides, told):
            selector.register(each, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is told:
                    return
                side = sides.index(key.fileobj)
                octets, origin = sides[side].recvfrom(65536)
                if origin[2] != OUTGOING:
                    for source, frame in fate((side, octets)):
                        sides[1 - source].send(frame)


def is_message(octets: bytes) -> bool:
    is_tmux = octets[12:14] == b"\x08\x00" and octets[ETHERNET + 9] == TMUX
    return is_tmux and len(octets) > ETHERNET + IPV4


class Disturbance:
    """Loses, doubles and delays messages by a seed, 3 in 100 each: one that is delayed comes after the next."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.delayed: dict[int, bytes] = {}
        self.done: Counter[str] = Counter()

    def __call__(self, frame: Frame) -> Sequence[Frame]:
        side, octets = frame
        if not is_message(octets):
            return [frame]
        late = [(side, self.delayed.pop(side))] if side in self.delayed else []
        kind = self.dice.choices(("passed", "lost", "doubled", "delayed"), (91, 3, 3, 3))[0]
        self.done[kind] += 1
        if kind == "delayed":
            self.delayed[side] = octets
        return [frame] * {"passed": 1, "doubled": 2}.get(kind, 0) + late
