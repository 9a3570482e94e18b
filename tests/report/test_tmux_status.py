"""The text of a status."""

from copy import deepcopy
from typing import Any

from cuesta.report.tmux_status import state_service, status_text

HISTOGRAM = [0] * 20
PEER = {"address": "192.0.2.7", "state": "able", "heard_s": 0.25, "probe_in_s": None, "waiting": 3, "mtu": 1500}
STATUS: dict[str, Any] = {
    "settings": {"ports": [23, 513], "multiplex_udp": False, "delay": 20_000_000},
    "mtu": 1500,
    "counting_since": 0,
    "now": 10_000_000_000,
    "peers": [PEER],
    "wire": {
        "segments": {"sent": 3000, "received": 1000},
        "messages": {"sent": 100, "received": 40},
        "octets": {"sent": 123_456, "received": 64_000},
        "sent_because": {"timer": 90, "full": 10, "urgent": 0},
        "held": {"sum_ns": 30_000_000_000, "max_ns": 20_100_000, "microseconds": HISTOGRAM},
        "plain": {"peer_unable": 2, "port": 0},
        "refused": {"looped": 0, "unreadable": 1},
        "dropped": {"checksum": 0, "stranger": 7, "unreadable": 0},
    },
    "kernel_receive": {"works": True, "why_not": None},
    "endpoint": {"cpu_ns": 24_000_000, "read_from_host": 3000, "received_in_kernel": 1, "dropped": {"to_host": 0}},
}
TEXT = """\
TMux multiplexes TCP ports 23 and 513 to and from 192.0.2.7.

peers            192.0.2.7  speaks TMux, heard 0.2 s ago
sent             3,000 segments in 100 datagrams, 123,456 octets
                 30.00 segments a datagram, held for 10.00 ms (longest 20.10 ms)
                 because: timer 90, full 10
received         1,000 segments in 40 datagrams, 64,000 octets
                 1 datagram taken apart in the kernel
not multiplexed  peer unable 2
not sent         unreadable 1
dropped          stranger 7
agent            counts 10.0 s; CPU 0.24 %, 6.0 µs a segment"""


def test_the_text_begins_with_what_it_does_for_whom() -> None:
    assert status_text(STATUS) == TEXT


def test_what_does_not_receive_in_the_kernel_says_why() -> None:
    status = STATUS | {"kernel_receive": {"works": False, "why_not": "it is switched off"}}
    assert "\n                 not in the kernel: it is switched off\n" in status_text(status)


def test_before_anything_was_heard_or_sent() -> None:
    status = deepcopy(STATUS)
    status["peers"] = [PEER | {"state": "refused", "heard_s": None, "probe_in_s": 14.6}]
    for counts in (status["wire"], status["endpoint"]):
        for name, value in counts.items():
            counts[name] = dict.fromkeys(value, 0) if isinstance(value, dict) else 0
    assert (
        state_service(status) == "TMux is ready; to 192.0.2.7 traffic goes as before, until TMux is heard from there."
    )
    text = status_text(status)
    assert "192.0.2.7  refuses TMux, next probe in 15 s" in text
    assert "0 segments in 0 datagrams" in text
    assert "dropped" not in text


def test_without_a_delay_no_wait_is_told() -> None:
    status = deepcopy(STATUS)
    status["settings"]["delay"] = 0
    assert "                 30.00 segments a datagram\n" in status_text(status)


def test_a_path_that_carries_less_is_told() -> None:
    status = deepcopy(STATUS)
    status["peers"][0]["mtu"] = 1400
    assert "speaks TMux, heard 0.2 s ago, its path carries 1,400 octets\n" in status_text(status)
