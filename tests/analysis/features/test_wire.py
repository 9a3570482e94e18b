from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.summary import summarise
from cuesta.figures import CATALOGUE
from cuesta.figures.step import StepFigures
from tests.run_folder import CLOCK, NANO, RunFolder, change_run, write_rows

Row = dict[str, Any]


def end_of_wire(packets: int) -> Row:
    """Counters of an end that has received `packets` packets of 70 bytes, and sent half as many of 70 bytes."""
    return {
        "received_bytes": 70 * packets,
        "received_packets": packets,
        "received_dropped": 1 if packets > 1000 else 0,
        "sent_bytes": 35 * packets,
        "sent_packets": packets // 2,
        "sent_dropped": 0,
    }


def agent(cpu: int, segments: int, messages: int, dropped: int = 0) -> Row:
    counters = {
        "segments": {"sent": segments, "received": 0},
        "messages": {"sent": messages, "received": 0},
        "held": {"sum_ns": 5_000_000 * segments, "max_ns": 20_000_000, "microseconds": []},
        "plain": {"peer_unable": 2, "large": 1},
    }
    lost = {"receive_queue": dropped, "device_queue": 0, "to_host": 0}
    return {"cpu": cpu, "status": {"wire": counters, "endpoint": {"dropped": lost}}}


def bounds(begin: Row | None, end: Row | None) -> Row:
    """The row of a step that is measured from second 2 to 32."""
    first = {"at": CLOCK + 2 * NANO, "driver": end_of_wire(10), "host": end_of_wire(1000), "tmux": begin}
    last = {"at": CLOCK + 32 * NANO, "driver": end_of_wire(900), "host": end_of_wire(3340), "tmux": end}
    return {"step": 0, "begin": first, "end": last}


def step_of(path: Path, *rows: Row) -> StepFigures:
    """A step with 26 keys a second, 780 in all."""
    folder = RunFolder(path / "run").write()
    write_rows(folder / "wire.jsonl", rows)
    return summarise(folder).last


def value(step: StepFigures, name: str) -> float | None:
    return CATALOGUE[name].take_from(step)


def test_packets_and_bytes_are_divided_by_the_keys_of_the_same_interval(tmp_path: Path) -> None:
    step = step_of(tmp_path, bounds(None, None))
    assert step.keystrokes.count == 780
    assert value(step, "wire.packets_in_per_keystroke") == pytest.approx(2340 / 780)
    assert value(step, "wire.packets_out_per_keystroke") == pytest.approx(1170 / 780)
    assert value(step, "wire.packets_per_keystroke") == pytest.approx(4.5)
    assert value(step, "wire.bytes_per_keystroke") == pytest.approx(105 * 2340 / 780)
    assert value(step, "wire.dropped") == 1
    assert step.tmux is None


def test_an_interval_that_the_record_cuts_counts_only_its_keys(tmp_path: Path) -> None:
    row = bounds(None, None)
    row["end"]["at"] = CLOCK + 17 * NANO
    assert value(step_of(tmp_path, row), "wire.packets_in_per_keystroke") == pytest.approx(2340 / 390)


def test_segments_and_held_times_are_means_over_both_agents(tmp_path: Path) -> None:
    begin = {"driver": agent(1_000_000, 0, 0), "host": agent(2_000_000, 0, 0)}
    end = {"driver": agent(40_000_000, 1000, 100, 2), "host": agent(80_000_000, 500, 25, 3)}
    step = step_of(tmp_path, bounds(begin, end))
    assert value(step, "tmux.segments_per_datagram") == 12
    assert value(step, "tmux.driver.segments_per_datagram") == 10
    assert value(step, "tmux.host.segments_per_datagram") == 20
    assert value(step, "tmux.held_mean") == pytest.approx(0.005)
    assert value(step, "tmux.host.held_max") == pytest.approx(0.020)
    assert value(step, "tmux.host.plain") == 3
    assert value(step, "tmux.plain_share") == pytest.approx(6 / 1506)
    assert value(step, "tmux.dropped") == 5
    assert value(step, "tmux.driver.cpu_per_keystroke") == pytest.approx(0.039 / 780)
    assert value(step, "tmux.host.cpu_per_keystroke") == pytest.approx(0.078 / 780)


def test_an_agent_that_ended_has_no_figures(tmp_path: Path) -> None:
    begin = {"driver": agent(1_000_000, 0, 0), "host": agent(2_000_000, 0, 0)}
    step = step_of(tmp_path, bounds(begin, {"driver": agent(40_000_000, 1000, 100), "host": None}))
    assert value(step, "tmux.driver.segments_per_datagram") == value(step, "tmux.segments_per_datagram") == 10
    assert value(step, "tmux.host.segments_per_datagram") is value(step, "tmux.host.cpu_per_keystroke") is None


def test_what_agents_lost_is_unknown_where_one_does_not_tell(tmp_path: Path) -> None:
    older = agent(40_000_000, 1000, 100)
    del older["status"]["endpoint"]
    both = {"driver": older, "host": agent(80_000_000, 500, 25)}
    assert value(step_of(tmp_path, bounds(both, both)), "tmux.dropped") is None


def test_an_isolated_step_without_a_record_says_so(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    assert summarise(folder).last.wire_missing is None
    change_run(folder, placed={side: {"cpus": [0], "network": {"namespace": side}} for side in ("driver", "host")})
    assert summarise(folder).last.wire_missing == "no data: wire.jsonl has no row of this step"
    ended = bounds(None, None)
    ended["end"]["host"] = None
    write_rows(folder / "wire.jsonl", [ended])
    assert summarise(folder).last.wire_missing == "no data: the host ended before its end of the wire was read"
    write_rows(folder / "wire.jsonl", [bounds(None, None)])
    assert summarise(folder).last.wire_missing is None


def test_without_a_record_there_are_no_figures(tmp_path: Path) -> None:
    assert (step_of(tmp_path).wire, step_of(tmp_path / "other", {"step": 0}).wire) == (None, None)


FRESH, GOOD, DEAD = agent(0, 0, 0), agent(1, 1000, 100), None
"""An agent at the first bound, and at the last: 3 of 1003 segments went plain."""
NO_AGENT = "TMux was not in force: no agent answered at the driver's and the host's end"


@pytest.mark.parametrize(
    ("begin", "driver", "host", "said"),
    [
        (FRESH, GOOD, GOOD, []),
        (FRESH, GOOD, DEAD, ["TMux was not in force: no agent answered at the host's end"]),
        (DEAD, DEAD, DEAD, [NO_AGENT]),
        (FRESH, agent(1, 3, 1), GOOD, []),
        (
            *(FRESH, agent(1, 3, 1), agent(1, 200, 10)),
            ["TMux was not in force: 2.9 % of the segments went plain (allowed 1.0 %)"],
        ),
        (FRESH, GOOD, agent(1, 1000, 100, dropped=1), ["TMux's agents lost 1 packet"]),
    ],
)
def test_tmux_that_was_not_in_force_or_lost_packets_is_doubted(
    tmp_path: Path, begin: Row | None, driver: Row | None, host: Row | None, said: list[str]
) -> None:
    folder = RunFolder(tmp_path / "run", plan={"tmux": "20ms"}).write()
    write_rows(folder / "wire.jsonl", [bounds({"driver": begin, "host": begin}, {"driver": driver, "host": host})])
    assert [str(each) for each in summarise(folder).doubts] == said


@pytest.mark.parametrize(("setting", "said"), [("off", []), ("20ms", [NO_AGENT])])
def test_tmux_without_a_record_of_the_wire_is_doubted(tmp_path: Path, setting: str, said: list[str]) -> None:
    folder = RunFolder(tmp_path / "run", plan={"tmux": setting}).write()
    assert [str(each) for each in summarise(folder).doubts] == said
