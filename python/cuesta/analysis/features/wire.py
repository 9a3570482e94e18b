"""Packets on the wire between driver and host, and TMux there, per key of the same interval."""

from collections.abc import Collection, Mapping, Sequence

from cuesta.analysis.host_figures import sum_within
from cuesta.figures.wire import TmuxFigures, TmuxSide, WireFigures
from cuesta.ledger import Interval, Recorded
from cuesta.ledger.wire import TmuxRecord, WireEnd, WireInterval


def derive_wire(interval: WireInterval | None, counted: Sequence[Interval]) -> WireFigures | None:
    """Divide the counters of the host's end by the keys; None without a record, or without keys."""
    keys = sum_within(counted, interval.begin, interval.end, lambda row: row.keys) if interval else 0.0
    if interval is None or not keys or "host" not in interval.ends:
        return None
    host = interval.ends["host"]
    return WireFigures(
        packets_per_keystroke=(host.received_packets + host.sent_packets) / keys,
        packets_in_per_keystroke=host.received_packets / keys,
        packets_out_per_keystroke=host.sent_packets / keys,
        bytes_per_keystroke=(host.received_bytes + host.sent_bytes) / keys,
        dropped=sum(map(count_dropped, interval.ends.values())),
    )


def count_dropped(end: WireEnd) -> int:
    return end.received_dropped + end.sent_dropped


def derive_tmux(interval: WireInterval | None, counted: Sequence[Interval], is_set: bool) -> TmuxFigures | None:
    """The figures of both agents; None if TMux was neither set nor running."""
    agents = interval.tmux if interval else {}
    if not (is_set or agents):
        return None
    keys = sum_within(counted, interval.begin, interval.end, lambda row: row.keys) if interval else 0.0
    driver, host = (derive_side(agents.get(name), keys) for name in ("driver", "host"))
    segments, datagrams, held, plain = (
        sum(of(record.counters) for record in agents.values())
        for of in (segments_sent, datagrams_sent, held_ns, plain_sent)
    )
    return TmuxFigures(
        segments_per_datagram=divide(segments, datagrams),
        held_mean=divide(held / 1e9, segments),
        dropped=count_lost(agents.values()),
        plain_share=divide(plain, plain + segments),
        driver=driver,
        host=host,
    )


def derive_side(record: TmuxRecord | None, keys: float) -> TmuxSide:
    """The figures of one agent; all None if it had ended."""
    if record is None:
        return TmuxSide(None, None, None, None, None)
    counters, segments = record.counters, segments_sent(record.counters)
    return TmuxSide(
        segments_per_datagram=divide(segments, datagrams_sent(counters)),
        held_mean=divide(held_ns(counters) / 1e9, segments),
        held_max=counters["held"]["max_ns"] / 1e9 if segments else None,
        plain=plain_sent(counters),
        cpu_per_keystroke=divide(record.cpu, keys),
    )


def count_lost(agents: Collection[TmuxRecord]) -> int | None:
    """Segments that all agents lost; None if one of them has no count."""
    known = [agent.dropped for agent in agents if agent.dropped is not None]
    return sum(known) if known and len(known) == len(agents) else None


def why_unrecorded(recorded: Recorded, number: int, keys: float) -> str | None:
    """Why an isolated run has no figures of the wire; None if it has, or if it was not isolated."""
    placed = recorded.run.get("placed") or {}
    if not (placed.get("host") or {}).get("network"):
        return None
    if (interval := recorded.wire.get(number)) is None:
        return "no data: wire.jsonl has no row of this step"
    if "host" not in interval.ends:
        return "no data: the host ended before its end of the wire was read"
    return None if keys else "no data: no key was sent"


Counters = Mapping[str, Mapping[str, int]]


def segments_sent(counters: Counters) -> int:
    return counters["segments"]["sent"]


def datagrams_sent(counters: Counters) -> int:
    return counters["messages"]["sent"]


def plain_sent(counters: Counters) -> int:
    return sum(counters["plain"].values())


def held_ns(counters: Counters) -> int:
    return counters["held"]["sum_ns"]


def divide(value: float, base: float) -> float | None:
    return value / base if base else None
