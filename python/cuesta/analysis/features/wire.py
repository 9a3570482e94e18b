"""The network between driver and host, and TMux there: packets and costs per key of the same interval, and doubts."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuesta.analysis.doubts.doubt import Doubt, step_doubt
from cuesta.analysis.host_figures import sum_within
from cuesta.analysis.planned import Allowed, read_setting
from cuesta.figures.step import StepFigures
from cuesta.figures.wire import TmuxFigures, TmuxSide, WireFigures
from cuesta.ledger import Interval, Recorded
from cuesta.ledger.wire import TmuxRecord, WireInterval
from cuesta.records.rows import WireCounters
from cuesta.units import many, share

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords


def add_figures(step: StepFigures, records: "StepRecords") -> StepFigures:
    """Add `wire`, `wire_missing` and `tmux`."""
    recorded, number = records.recorded, records.number
    interval, is_set = recorded.wire.get(number), read_setting(recorded, number, "tmux") not in (None, "off")
    return replace(
        step,
        wire=derive_wire(interval, records.rows),
        wire_missing=why_unrecorded(recorded, number, step.keystrokes.count),
        tmux=derive_tmux(interval, records.rows, is_set),
    )


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


def count_dropped(end: WireCounters) -> int:
    return end.received_dropped + end.sent_dropped


def derive_tmux(interval: WireInterval | None, counted: Sequence[Interval], is_set: bool) -> TmuxFigures | None:
    """The figures of both agents; None if TMux was neither set nor running."""
    agents = interval.tmux if interval else {}
    if not (is_set or agents):
        return None
    keys = sum_within(counted, interval.begin, interval.end, lambda row: row.keys) if interval else 0.0
    driver, host = (derive_side(agents.get(name), keys) for name in ("driver", "host"))
    segments, datagrams, held, plain = (
        sum(counter(record.counters) for record in agents.values())
        for counter in (segments_sent, datagrams_sent, held_ns, plain_sent)
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


def held_time(step: StepFigures) -> float:
    """Seconds that a key and its answer wait in the agents of TMux, on average."""
    return sum(side.held_mean or 0.0 for side in (step.tmux.driver, step.tmux.host)) if step.tmux else 0.0


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


@step_doubt
def unmultiplexed(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """TMux was set, and was not in force: what the step shows is that of plain lines, in part or all."""
    if step.tmux is None:
        return None
    sides, plain = {"driver's": step.tmux.driver, "host's": step.tmux.host}, step.tmux.plain_share or 0.0
    missing = [side for side, agent in sides.items() if agent.plain is None]
    if not missing and plain <= allowed.plain_segments:
        return None
    without_agent = f"no agent answered at the {' and the '.join(missing)} end"
    sent_plain = f"{share(plain)} of the segments went plain (allowed {share(allowed.plain_segments)})"
    advice = "see why in the agents' status in wire.jsonl (docs/tmux.md), and whether an agent was ended"
    return Doubt(f"TMux was not in force: {without_agent if missing else sent_plain}", advice)


@step_doubt
def lost_by_agents(step: StepFigures, _: Allowed) -> Doubt | None:
    """Packets were lost on the way through TMux's agents: TCP sent them again, and keys waited for it."""
    if step.tmux is None or not step.tmux.dropped:
        return None
    advice = "use fewer users; `endpoint.dropped` in wire.jsonl tells where (docs/tmux.md: the status)"
    return Doubt(f"TMux's agents lost {many(step.tmux.dropped, 'packet')}", advice)
