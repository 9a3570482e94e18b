"""What crossed the wire between driver and host, and what TMux did there, per key of the same interval."""

from collections.abc import Collection, Mapping, Sequence

from cuesta.analysis.host_figures import within
from cuesta.figures.wire import TmuxFigures, TmuxSide, WireFigures
from cuesta.ledger import Interval, Recorded
from cuesta.ledger.wire import TmuxRecord, WireEnd, WireInterval


def wire(interval: WireInterval | None, counted: Sequence[Interval]) -> WireFigures | None:
    """Divide the counters of the host's end by the keys; None without a record, or without keys."""
    keys = within(counted, interval.begin, interval.end, lambda row: row.keys) if interval else 0.0
    if interval is None or not keys or "host" not in interval.ends:
        return None
    host = interval.ends["host"]
    return WireFigures(
        packets_per_keystroke=(host.received_packets + host.sent_packets) / keys,
        packets_in_per_keystroke=host.received_packets / keys,
        packets_out_per_keystroke=host.sent_packets / keys,
        bytes_per_keystroke=(host.received_bytes + host.sent_bytes) / keys,
        dropped=sum(map(dropped, interval.ends.values())),
    )


def dropped(end: WireEnd) -> int:
    return end.received_dropped + end.sent_dropped


def tmux(interval: WireInterval | None, counted: Sequence[Interval], is_set: bool) -> TmuxFigures | None:
    """The figures of both agents; None if the plan had none work and none did."""
    agents = interval.tmux if interval else {}
    if not (is_set or agents):
        return None
    keys = within(counted, interval.begin, interval.end, lambda row: row.keys) if interval else 0.0
    driver, host = (side(agents.get(name), keys) for name in ("driver", "host"))
    segments, datagrams, held, plain = (
        sum(of(record.counters) for record in agents.values())
        for of in (segments_sent, datagrams_sent, held_ns, plain_sent)
    )
    return TmuxFigures(
        segments_per_datagram=ratio(segments, datagrams),
        held_mean=ratio(held / 1e9, segments),
        dropped=dropped_by(agents.values()),
        plain_share=ratio(plain, plain + segments),
        driver=driver,
        host=host,
    )


def side(record: TmuxRecord | None, keys: float) -> TmuxSide:
    """The figures of one agent; none of them if it had ended."""
    if record is None:
        return TmuxSide(None, None, None, None, None)
    counters, segments = record.counters, segments_sent(record.counters)
    return TmuxSide(
        segments_per_datagram=ratio(segments, datagrams_sent(counters)),
        held_mean=ratio(held_ns(counters) / 1e9, segments),
        held_max=counters["held"]["max_ns"] / 1e9 if segments else None,
        plain=plain_sent(counters),
        cpu_per_keystroke=ratio(record.cpu, keys),
    )


def dropped_by(agents: Collection[TmuxRecord]) -> int | None:
    """What all agents lost; None without any, or if one does not tell."""
    known = [agent.dropped for agent in agents if agent.dropped is not None]
    return sum(known) if known and len(known) == len(agents) else None


def unrecorded(recorded: Recorded, number: int, keys: float) -> str | None:
    """Why nothing is known of the wire of an isolated run; None if it is, or if there was none."""
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


def ratio(value: float, base: float) -> float | None:
    return value / base if base else None
