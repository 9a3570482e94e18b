"""The status of an agent of TMux, as text."""

from collections.abc import Iterable, Mapping
from typing import Any

from cuesta.units import join_words, many

Status = Mapping[str, Any]
"""The agent's status (docs/tmux.md)."""

STATES = {
    "able": "speaks TMux",
    "unknown": "not heard yet",
    "expired": "no longer heard",
    "refused": "refuses TMux",
    "silent": "does not answer",
}
"""What each state of a peer means."""


def state_service(status: Status) -> str:
    settings, peers = status["settings"], status["peers"]
    able = [peer["address"] for peer in peers if peer["state"] == "able"]
    others = [peer["address"] for peer in peers if peer["state"] != "able"]
    what = f"TMux multiplexes {_ports(settings)} to and from {join_words(able)}" if able else "TMux is ready"
    wait = f"; to {join_words(others)} traffic goes as before, until TMux is heard from there" if others else ""
    return f"{what}{wait}."


def status_text(status: Status) -> str:
    """The sentence, the peers and the counters; counters of errors and exceptions only where they are above zero."""
    sections = {
        "peers": _peers(status),
        "sent": _sent(status),
        "received": _received(status),
        "not multiplexed": _reasons(status["wire"]["plain"]),
        "not sent": _reasons(status["wire"]["refused"]),
        "dropped": _reasons(status["wire"]["dropped"] | status["endpoint"]["dropped"]),
        "agent": _agent(status),
    }
    rows = [f"{name:16} {row}" for name, lines in sections.items() for name, row in _name_first(name, lines)]
    return "\n".join([state_service(status), "", *rows])


def _name_first(name: str, rows: Iterable[str]) -> Iterable[tuple[str, str]]:
    """Rows, with the name beside the first."""
    return ((name if not number else "", row) for number, row in enumerate(rows))


def _peers(status: Status) -> Iterable[str]:
    for peer in status["peers"]:
        heard = f", heard {peer['heard_s']:.1f} s ago" if peer["heard_s"] is not None else ""
        probe = f", next probe in {peer['probe_in_s']:.0f} s" if peer["probe_in_s"] is not None else ""
        path = f", its path carries {peer['mtu']:,} octets" if peer["mtu"] < status["mtu"] else ""
        yield f"{peer['address']}  {STATES[peer['state']]}{heard}{probe}{path}"


def _sent(status: Status) -> Iterable[str]:
    wire = status["wire"]
    segments, messages = wire["segments"]["sent"], wire["messages"]["sent"]
    yield f"{many(segments, 'segment')} in {many(messages, 'datagram')}, {wire['octets']['sent']:,} octets"
    if messages:
        held = wire["held"]
        mean = f", held for {held['sum_ns'] / segments / 1e6:.2f} ms (longest {held['max_ns'] / 1e6:.2f} ms)"
        yield f"{segments / messages:.2f} segments a datagram{mean if status['settings']['delay'] else ''}"
        yield f"because: {', '.join(_reasons(wire['sent_because']))}"


def _received(status: Status) -> Iterable[str]:
    wire, kernel = status["wire"], status["kernel_receive"]
    segments, messages = wire["segments"]["received"], wire["messages"]["received"]
    yield f"{many(segments, 'segment')} in {many(messages, 'datagram')}, {wire['octets']['received']:,} octets"
    if kernel["works"]:
        yield f"{many(status['endpoint']['received_in_kernel'], 'datagram')} taken apart in the kernel"
    else:
        yield f"not in the kernel: {kernel['why_not']}"


def _agent(status: Status) -> Iterable[str]:
    endpoint, seconds = status["endpoint"], (status["now"] - status["counting_since"]) / 1e9
    segments = endpoint["read_from_host"] + status["wire"]["segments"]["received"]
    per_segment = f", {endpoint['cpu_ns'] / segments / 1e3:.1f} µs a segment" if segments else ""
    yield f"counts {seconds:,.1f} s; CPU {endpoint['cpu_ns'] / 1e7 / max(seconds, 1e-9):.2f} %{per_segment}"


def _reasons(counts: Status) -> list[str]:
    counted = sorted(((count, reason) for reason, count in counts.items() if count), reverse=True)
    return [f"{reason.replace('_', ' ')} {count:,}" for count, reason in counted]


def _ports(settings: Status) -> str:
    protocols = "TCP and UDP" if settings["multiplex_udp"] else "TCP"
    return f"{protocols} ports {join_words(map(str, settings['ports']))}" if settings["ports"] else f"all {protocols}"
