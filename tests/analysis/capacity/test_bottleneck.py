"""What limits a host, on simulated closed loops and on records that were made to mislead."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.capacity import find_bottleneck
from cuesta.analysis.capacity.findings import Conflicting, DriverLimited, OnTheLine, Saturated, Undecided, Unlimited
from cuesta.analysis.capacity.measured_step import MeasuredStep, order_by_load
from cuesta.analysis.capacity.resources import Resource, read_resources
from cuesta.analysis.capacity.response_parts import ResponseParts, divide_response
from cuesta.analysis.summary import summarise
from cuesta.report.headline import headline
from cuesta.report.run_report import text
from tests.analysis.capacity.simulated import Load, write
from tests.meter_reports import meter_report, plain
from tests.run_folder import CLOCK, NANO, Row, RunFolder, arrivals, change_rows, edit_run

SERVERS = "the built-in host's servers"
CPU = "CPU of the host"
SPEED = 4800


def finding_of(folder: Path) -> Any:
    return find_bottleneck(summarise(folder))


def resources_by_name(folder: Path) -> dict[str, Resource]:
    summary = summarise(folder)
    return {each.name: each for each in read_resources(MeasuredStep(summary.recorded, summary.last))}


def test_one_saturated_server_is_named_with_its_demand(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=60, think=1.0, service=0.05)])
    said = finding_of(folder)
    assert isinstance(said, Saturated)
    assert (said.resource.name, said.at) == (SERVERS, "60 users")
    assert said.resource.demand == pytest.approx(0.05, rel=0.05)
    assert str(said).startswith("the built-in host's servers: 100 % busy at 60 users; a transaction costs ")
    assert summarise(folder).json()["limited_by"] == str(said)


def test_the_demand_at_several_servers_is_the_time_of_one(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=200, think=1.0, service=0.05, servers=4)])
    said = finding_of(folder)
    assert isinstance(said, Saturated)
    assert said.resource.demand == pytest.approx(0.05, rel=0.05)
    assert said.resource.most_per_s == pytest.approx(4 / 0.05, rel=0.05)


def test_users_who_mostly_think_are_limited_by_nothing(tmp_path: Path) -> None:
    said = finding_of(write(tmp_path / "run", [Load(users=4, think=2.0, service=0.05)]))
    assert isinstance(said, Unlimited)
    assert said.most
    assert said.most.name == SERVERS
    assert str(said).startswith("nothing: what the host uses most at 4 users is the built-in host's servers (")


def test_the_line_is_named_by_its_characters(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=20, think=2.0, service=0.005, delay=1500 / SPEED)])
    at_speed(folder, SPEED, "Wait+Bytes 150")
    said = finding_of(folder)
    assert isinstance(said, OnTheLine)
    assert (said.characters, said.is_exact) == (150, True)
    assert said.line == pytest.approx(1500 / SPEED)
    assert str(said).startswith("the line: 312 of 31")
    assert str(said).endswith(" ms are 150 characters at 4800 baud")


def test_a_response_that_tmux_holds_is_no_riddle(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=4, think=2.0, service=0.005, delay=0.04)])
    assert isinstance(finding_of(folder), Undecided)
    record_tmux(folder, held=0.02)
    said = finding_of(folder)
    assert isinstance(said, Unlimited), said
    assert said.held == pytest.approx(0.04)
    assert " (40.0 ms of it in TMux's agents)" in str(said)


def test_characters_that_the_tape_does_not_tell_are_counted(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=20, think=2.0, service=0.005, delay=1600 / SPEED)])
    at_speed(folder, SPEED, "Wait+Prompt")
    said = finding_of(folder)
    assert isinstance(said, OnTheLine)
    assert "are about 160 characters at 4800 baud" in str(said)


@pytest.mark.parametrize(
    ("settings", "speed", "baud", "bits"),
    [
        pytest.param("?baud=4800", 0, 4800, 10, id="its speed"),
        pytest.param("", 0, 9600, 10, id="the speed without settings"),
        pytest.param("?baud=4800&data=8&parity=even&stop=2", 0, 4800, 12, id="its format"),
        pytest.param("?baud=115200", SPEED, SPEED, 10, id="a tape that is slower"),
        pytest.param("?baud=1200", SPEED, 1200, 10, id="a tape that is faster"),
    ],
)
def test_a_serial_device_has_the_speed_of_its_target(
    tmp_path: Path, settings: str, speed: int, baud: int, bits: int
) -> None:
    takes = 150 * bits / baud
    folder = write(tmp_path / "run", [Load(users=1, think=2.0, service=0.005, delay=takes)])
    at_speed(folder, speed, "Wait+Bytes 150", f"serial:/dev/ttyUSB0{settings}")
    said = finding_of(folder)
    assert isinstance(said, OnTheLine)
    assert said.line == pytest.approx(takes)
    assert str(said).endswith(f" are 150 characters at {baud} baud")
    assert resources_by_name(folder)["the lines from the host"].source.startswith(
        f"arithmetic: characters × {bits} bits ÷ {baud} "
    )


def at_speed(folder: Path, speed: int, wait: str, target: str = "host:") -> None:
    """Give the folder a tape with a line speed."""
    with edit_run(folder) as run:
        run["steps"][0]["group"][0].update(tape="interactive.tape", target=target)
    (folder / "tapes").mkdir()
    (folder / "tapes" / "interactive.tape").write_text(f"Set LineSpeed {speed}\nType 'a'\nEnter\n{wait}\n")


def test_a_line_is_not_blamed_for_the_wait_at_a_saturated_server(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=60, think=1.0, service=0.05, delay=1500 / SPEED)])
    at_speed(folder, SPEED, "Wait+Bytes 150")
    said = finding_of(folder)
    assert isinstance(said, Saturated)
    assert said.resource.name == SERVERS


def test_full_buffers_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=20, think=1.0, service=0.005, delay=0.5)])
    pool = {"size": 2048, "used": 2040, "free": 8, "least_free": 0, "overflows": 12}
    change_rows(folder / "host" / "series.jsonl", lambda row: row | {"pool": row["pool"] | pool})
    said = finding_of(folder)
    assert isinstance(said, Saturated)
    assert str(said).startswith("the built-in host's buffers: 99.6 % full at 20 users, 2,048 characters; ")
    assert "times it had no room" in str(said)


@pytest.mark.parametrize("trouble", [{"cpu": 0.95}, {"run_wait": 0.5}])
def test_a_driver_that_was_the_limit_is_named_and_never_the_host(tmp_path: Path, trouble: Row) -> None:
    said = finding_of(
        write(tmp_path / "run", [Load(users=60, think=1.0, service=0.05)], edit=lambda row: row | trouble)
    )
    assert isinstance(said, DriverLimited)
    assert str(said).startswith("the driver, not the host, at 60 users: the driver ")
    assert SERVERS not in str(said)


def test_late_keys_are_the_drivers_fault(tmp_path: Path) -> None:
    late = [("interactive/keys/lateness", [0.5] * 1000)]
    said = finding_of(RunFolder(tmp_path / "run", histograms=late).write())
    assert isinstance(said, DriverLimited)
    assert "late" in str(said)


def test_an_invalid_run_of_another_kind_tells_nothing(tmp_path: Path) -> None:
    said = finding_of(RunFolder(tmp_path / "run", users=(50,), lost=range(20)).write())
    assert isinstance(said, Undecided)
    assert str(said).startswith("not known: the run is INVALID: 20 of 50 users had no line at the end")


def test_a_driver_that_the_hypervisor_delayed_is_not_the_limit(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", edit=lambda row: row | {"run_wait": 0.5}, steal=25.0)
    said = str(finding_of(folder.write()))
    assert said.startswith("not known: the run is INVALID: the hypervisor took 25.0 % of the host's CPUs")


LOCKED = [Load(users=users, think=0.2, service=0.001, servers=40, locked=0.02) for users in (1, 40)]


def test_a_lock_that_no_meter_shows_is_a_conflict(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", LOCKED)
    metered(folder, idle=97.0)
    said = finding_of(folder)
    assert isinstance(said, Conflicting)
    assert str(said).startswith("CONFLICT: a response takes 2")
    assert "with 1 user and " in str(said)
    assert "nothing that is metered explains it" in str(said)
    assert "meter its waits off the CPU, such as locks (--meters exact), " in str(said)
    assert f"{CPU}: " not in str(said)


def test_one_population_does_not_tell_waiting_from_a_hosts_own_pace(tmp_path: Path) -> None:
    said = finding_of(metered(write(tmp_path / "run", LOCKED[1:]), idle=97.0))
    assert isinstance(said, Undecided)
    assert "measure fewer users too (--users 1,40)" in str(said)


def test_a_response_that_is_long_with_one_user_too_is_no_conflict(tmp_path: Path) -> None:
    slow = [Load(users=users, think=5.0, service=0.001, delay=0.5, is_exponential=False) for users in (2, 20)]
    said = finding_of(metered(write(tmp_path / "run", slow), idle=97.0))
    assert isinstance(said, Unlimited)


def test_growth_that_a_metered_queue_explains_is_no_conflict(tmp_path: Path) -> None:
    loads = [Load(users=users, think=1.0, service=0.05) for users in (1, 14)]
    said = finding_of(write(tmp_path / "run", loads))
    assert isinstance(said, Unlimited)
    assert said.saturates == pytest.approx(21, rel=0.15)
    assert "waiting for that" in str(said)
    assert "; saturation at about " in str(said)


def test_a_saturated_server_that_does_not_explain_the_response_is_a_conflict(tmp_path: Path) -> None:
    """92 % busy with 18 ms each makes a queue of 0.2 s, but users wait 2 s for a lock."""
    folder = write(tmp_path / "run", [Load(users=100, think=0.1, service=0.001, servers=100, locked=0.02)])
    servers = {"number": 1, "busy": 0.92, "mean_queue": 0.1}
    change_rows(folder / "host" / "series.jsonl", lambda row: row | {"servers": row["servers"] | servers})
    said = finding_of(folder)
    assert isinstance(said, Conflicting)
    assert "longer than a queue for it" in str(said)


def metered(folder: Path, idle: float, own: float = 0.5, others: float | None = None, **report: Any) -> Path:
    """Add meters of a process on two CPUs; shares are percent of both."""
    summary = summarise(folder)
    rows: list[Row] = [{"at": CLOCK, "about": {"source": "here", "subject": "pid:7", "why": "", "honesty": ""}}]
    for step, times in summary.recorded.steps.items():
        seconds = times.end - times.settled
        sheet = meter_report(0, seconds)
        rest = 100 - idle - own if others is None else others
        cpu = {"usr": 100 - idle, "sys": 0.0, "irq": 0.0, "iowait": 0.0, "steal": 0.0, "idle": idle, "load": 100 - idle}
        sheet["cpu"] = {name: plain(value) for name, value in cpu.items()}
        shares = {"usr": own, "sys": 0.0, "percent": own, "irq": 0.0, "others": rest, "seconds": own / 50 * seconds}
        sheet["own"] |= {name: plain(value) for name, value in shares.items()} | report.get("of_own", {})
        sheet["idle"]["quota"] = report.get("quota", {"why": "there is no quota"})
        sheet["idle"]["throttled"] = plain(report.get("throttled", 0.0))
        sheet["traffic"]["ready"] = plain(report.get("ready", 0.0))
        sheet["devices"] = sheet["interfaces"] = {}
        rows.append({"at": CLOCK + int(times.end * NANO), "step": step, "sheet": sheet})
    (folder / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def meter(folder: Path, **tables: Row) -> None:
    """Replace tables of the recorded meter reports."""
    change_rows(folder / "meters.jsonl", lambda row: row | ({"sheet": row["sheet"] | tables} if "sheet" in row else {}))


def with_cpus(path: Path, users: int = 40, **meters: Any) -> Path:
    """A loop at two servers without meters of their own, as a host whose work is on two CPUs, with these meters."""
    folder = write(path, [Load(users=users, think=0.5, service=0.05, servers=2)])
    (folder / "host" / "series.jsonl").unlink()
    return metered(folder, **meters)


def test_busy_cpus_are_named_with_the_hosts_own_demand(tmp_path: Path) -> None:
    said = finding_of(with_cpus(tmp_path / "run", idle=1.0, own=98.0))
    assert isinstance(said, Saturated)
    assert said.resource.name == CPU
    assert said.resource.demand == pytest.approx(0.05, rel=0.05), "seconds of a CPU, not of both"
    assert "a transaction costs 4" in str(said) or "a transaction costs 5" in str(said)


def test_cpus_that_others_keep_busy_while_no_user_waits_do_not_limit_the_host(tmp_path: Path) -> None:
    """As beside a batch job of low priority: the CPUs are busy, the response is not longer for it."""
    said = finding_of(with_cpus(tmp_path / "run", users=2, idle=0.5, own=5.0))
    assert isinstance(said, Unlimited)
    assert "though others keep CPU of the host 99.5 % busy" in str(said)


@pytest.mark.parametrize(
    ("table", "name", "said"),
    [("devices", "vda", "the device vda"), ("interfaces", "eth0", "the network interface eth0")],
)
def test_what_is_busy_for_unknown_users_is_a_conflict(table: str, name: str, said: str, tmp_path: Path) -> None:
    folder = with_cpus(tmp_path / "run", users=2, idle=70.0, own=30.0)
    meter(folder, **{table: {name: meter_report()[table][name] | {"busy": plain(98.0)}}})
    finding = finding_of(folder)
    assert isinstance(finding, Conflicting)
    assert f"{said} is 98.0 % busy" in str(finding)
    assert "no wait for it is seen" in str(finding)


def test_cpus_that_others_keep_busy_are_not_blamed_for_the_line(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=20, think=2.0, service=0.005, delay=1500 / SPEED)])
    at_speed(folder, SPEED, "Wait+Bytes 150")
    assert isinstance(finding_of(metered(folder, idle=0.5, own=5.0)), OnTheLine)


def test_cpus_that_others_keep_busy_do_not_limit_a_host_whose_users_wait_for_the_line(tmp_path: Path) -> None:
    """Users wait for the CPUs too, but for a few milliseconds beside the line's 312."""
    folder = write(tmp_path / "run", [Load(users=20, think=2.0, service=0.01, delay=1500 / SPEED)])
    (folder / "host" / "series.jsonl").unlink()
    at_speed(folder, SPEED, "Wait+Bytes 150")
    assert isinstance(finding_of(metered(folder, idle=0.5, own=1.0, ready=0.06)), OnTheLine)


def test_a_lock_is_a_conflict_also_beside_others_who_keep_the_cpus_busy(tmp_path: Path) -> None:
    said = finding_of(metered(write(tmp_path / "run", LOCKED), idle=0.5, own=1.0, ready=0.05))
    assert isinstance(said, Conflicting)
    assert "nothing that is metered explains it" in str(said)


def test_cpus_that_others_keep_busy_while_users_wait_are_named_as_such(tmp_path: Path) -> None:
    said = finding_of(with_cpus(tmp_path / "run", idle=0.5, own=5.0, ready=20.0))
    assert isinstance(said, Saturated)
    assert f"{CPU}: 99.5 % busy at 40 users, 94.5 % by others; " in str(said)


def test_work_that_is_no_part_of_a_response_is_a_conflict(tmp_path: Path) -> None:
    """A host that computes for itself: a transaction seems to cost more CPU time than its response lasts."""
    said = finding_of(with_cpus(tmp_path / "run", users=2, idle=0.5, own=99.0))
    assert isinstance(said, Conflicting)
    assert "most of that work is no part of a response" in str(said)


def test_a_quota_is_named_and_not_the_idle_cpus(tmp_path: Path) -> None:
    said = finding_of(with_cpus(tmp_path / "run", idle=50.0, own=50.0, quota=plain(1.0), throttled=40.0))
    assert isinstance(said, Saturated)
    assert said.resource.name == "the CPU quota of the host"


@pytest.mark.parametrize(("processes", "is_named"), [(1.0, True), (40.0, False)])
def test_a_host_with_one_thread_is_limited_by_one_cpu(tmp_path: Path, processes: float, is_named: bool) -> None:
    of_own = {"tasks": plain(processes), "processes": plain(processes)}
    folder = with_cpus(tmp_path / "run", idle=50.0, own=49.5, of_own=of_own)
    said = finding_of(folder)
    assert isinstance(said, Saturated) == is_named
    assert ("one CPU of the host: 99.0 % busy at 40 users, it has one thread; " in str(said)) == is_named


def test_a_meter_above_100_percent_is_rejected(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=4, think=2.0, service=0.05)])
    change_rows(folder / "host" / "series.jsonl", lambda row: row | {"servers": row["servers"] | {"busy": 2.23}})
    said = finding_of(folder)
    assert not isinstance(said, Saturated)
    shown = text(summarise(folder), colour=False, verbose=True)
    assert "the built-in host's servers: at most all of it is busy 223 %" in " ".join(shown.split())


def test_a_host_without_meters_is_not_called_free(tmp_path: Path) -> None:
    folder = write(tmp_path / "run", [Load(users=40, think=0.2, service=0.05)])
    (folder / "host" / "series.jsonl").unlink()
    said = finding_of(folder)
    assert isinstance(said, Undecided)


def test_a_sweep_of_arrivals_is_judged_by_its_rate(tmp_path: Path) -> None:
    """An open load: the users are the same in each step, what is due is not."""
    folder = write(tmp_path / "run", [replace(each, users=40) for each in LOCKED])
    with edit_run(folder) as run:
        for step, rate in zip(run["steps"], (5, 50), strict=True):
            step["swept"], step["group"][0]["load"] = {"load": f"open:{rate}/s"}, f"open:{rate}/s"
    change_rows(folder / "agent-0" / "series.jsonl", lambda row: row | {"due": arrivals(60 * (5, 50)[row["step"]])})
    summary = summarise(folder)
    assert [point.text for point in order_by_load(summary)] == ["5.00 arrivals/s", "50.0 arrivals/s"]


def test_keys_stand_for_transactions_where_a_tape_has_none(tmp_path: Path) -> None:
    keys = [("interactive/keys/echo_from_sent", [0.05] * 100)]
    typing = RunFolder(
        tmp_path / "run", users=(1,), responses=lambda *_: [], histograms=keys, edit=lambda row: row | {"keys": 5}
    )
    assert "; an echo takes 50.0 ms" in str(find_bottleneck(replace(summarise(typing.write()), doubts=[])))


def test_the_sentence_ends_the_text_and_heads_the_page(tmp_path: Path) -> None:
    summary = summarise(write(tmp_path / "run", [Load(users=60, think=1.0, service=0.05)]))
    rows = text(summary, colour=False)
    said = " ".join(rows[rows.index("LIMITED BY") :].split()).removeprefix("LIMITED BY ")
    assert said == f"{summary.json()['limited_by']} {headline(summary)}", "only the headline follows"


def test_a_disk_whose_users_are_unknown_is_not_what_the_host_uses_most(tmp_path: Path) -> None:
    folder = with_cpus(tmp_path / "run", users=2, idle=95.0, own=5.0)
    meter(folder, devices={"vda": meter_report()["devices"]["vda"] | {"busy": plain(60.0), "queue": plain(9.0)}})
    said = finding_of(folder)
    assert isinstance(said, Unlimited)
    assert said.most is not None
    assert said.most.name == CPU
    parts = parts_of(folder)
    assert sum(part.seconds for part in parts.parts) <= parts.response * (1 + 1e-9)


def test_a_wait_for_cpus_is_at_most_what_the_hosts_own_servers_leave_of_a_response(tmp_path: Path) -> None:
    """Tasks of the host that no user waits for, such as timers, wait for CPUs too."""
    folder = metered(write(tmp_path / "run", [Load(users=2, think=2.0, service=0.05)]), idle=0.5, own=0.5, ready=0.5)
    parts, said = parts_of(folder), finding_of(folder)
    assert isinstance(said, Unlimited), said
    waits = [part.seconds for part in parts.parts if part.waits_for == CPU]
    assert waits == pytest.approx([0.0], abs=0.1 * parts.response)


def parts_of(folder: Path) -> ResponseParts:
    """Where the time of a response goes in the last step."""
    summary = summarise(folder)
    step = MeasuredStep(summary.recorded, summary.last)
    return divide_response(step, read_resources(step))


def record_tmux(folder: Path, held: float) -> None:
    """Record two agents of TMux in the whole measurement, which hold each segment for `held` seconds."""
    recorded = summarise(folder).recorded
    counters = {"segments": {"sent": 100}, "messages": {"sent": 50}, "held": {"sum_ns": held * 1e11, "max_ns": 0}}
    agent = {"cpu": 0, "status": {"wire": counters | {"plain": {}}}}
    ends = {"driver": agent, "host": agent}
    begin = {"at": CLOCK, "driver": None, "host": None, "tmux": ends}
    row = {"step": 0, "begin": begin, "end": begin | {"at": CLOCK + 60 * NANO}}
    (recorded.folder / "wire.jsonl").write_text(f"{json.dumps(row)}\n")
