"""Servers that answer the request for a WebSocket wrongly. Most of them then serve a terminal.

`byte-by-byte` and `one-packet` answer correctly, but in unusual packets.
"""

from functools import partial

from tests.hosts.bad_web.answers import LONG, answer_with_page, hang_up
from tests.hosts.bad_web.caller import PROMPT, Caller, Shape
from tests.hosts.websocket import accept_key, upgrade

WRONG_HEADERS = {
    "wrong-accept": {"Sec_WebSocket_Accept": accept_key("another key")},
    "no-accept": {"Sec_WebSocket_Accept": ""},
    "no-upgrade-header": {"Upgrade": ""},
    "other-upgrade": {"Upgrade": "h2c"},
    "no-connection-header": {"Connection": ""},
    "unasked-subprotocol": {"Sec_WebSocket_Protocol": "nobody-asked"},
    "unasked-extension": {"Sec_WebSocket_Extensions": "x-nobody-asked"},
}
"""Shapes whose 101 differs in a header from that of a good server; RFC 6455 §4.1."""


async def upgrade_wrongly(caller: Caller, headers: dict[str, str]) -> None:
    await caller.send(upgrade(caller.request, **headers))
    await caller.echo()


async def upgrade_at_length(caller: Caller) -> None:
    """A 101 with 64 KiB of other headers."""
    first, rest = upgrade(caller.request).split(b"\r\n", 1)
    await caller.send(first + b"\r\n" + LONG * 8 + rest)
    await caller.echo()


async def upgrade_in_bytes(caller: Caller) -> None:
    """A good 101 and a prompt, each byte in a packet of its own."""
    await caller.drip(upgrade(caller.request) + PROMPT, 0.002)
    await caller.echo(b"")


async def upgrade_at_once(caller: Caller) -> None:
    """A good 101 and a prompt in one packet."""
    await caller.send(upgrade(caller.request) + PROMPT)
    await caller.echo(b"")


UPGRADES: dict[str, Shape] = {
    **{name: partial(upgrade_wrongly, headers=headers) for name, headers in WRONG_HEADERS.items()},
    "upgrade-403": partial(answer_with_page, status="403 Forbidden"),
    "upgrade-hangs-up": hang_up,
    "long-101": upgrade_at_length,
    "byte-by-byte": upgrade_in_bytes,
    "one-packet": upgrade_at_once,
}
