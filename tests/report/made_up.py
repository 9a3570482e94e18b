"""Run folders for reports: a valid run, an invalid one, a sweep and others."""

import json
import math
import random
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from cuesta.analysis.search import Method
from tests.followed import Line, at_shell, hop, visit, write_lines
from tests.meter_reports import meter_report, missing, plain, traced
from tests.run_folder import CLOCK, NANO, Row, RunFolder, arrivals, change_run, edit_run, write_rows

KEYS = [0.001 + number / 1e7 for number in range(12_000)]


def good(path: Path) -> Path:
    """A valid closed run with echoes, kernel stamps, limits and a host that meters itself."""
    folder = RunFolder(
        path,
        limits=["response.p95 < 2s", "response{a, b/c}.p50 < 50ms", "errors.rate < 1%"],
        histograms=[
            ("interactive/keys/echo", KEYS),
            ("interactive/keys/echo_from_sent", KEYS),
            ("interactive/stamped/kernel_response", [0.010] * 40),
            ("interactive/stamped/user_response", [0.010_05] * 40),
            ("interactive/stamped/own", [0.000_03] * 40),
        ],
        slow={2: 0.4},
        published=[
            {
                "what": "characters typed, a second and user",
                "figure": "characters.in_per_s_per_user",
                "value": value,
                "users": users,
                "source": "A memo, 1981",
            }
            for users, value in ((4, "1.6"), (35, "0.9"))
        ]
        + [
            {
                "what": "the work of an hour, with much more said of how it came about than fits into one row",
                "figure": "response.mean",
                "value": "6.3s",
                "bound": "at least",
                "source": "Another, 1974",
            }
        ],
    ).write()
    (folder / "host").mkdir()
    rows = [host_row(second) for second in range(32)]
    (folder / "host" / "series.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in metered()))
    return folder


def without_limits(path: Path) -> Path:
    """The valid run without limits and published figures: its first screen has room for every section."""
    folder = good(path)
    with edit_run(folder) as run:
        run["plan"] |= {"published": [], "limits": []}
    return folder


def watched(path: Path) -> Path:
    """The valid run with marks of those who watched it, in a time in which starts were held, and what watching cost."""
    folder = good(path)
    write_rows(folder / "marks.jsonl", MARKS)
    used = {"live view": 0.24, "page and exporters": 0.42}
    rows = [
        {
            "step": 0,
            "name": name,
            "begin": {"at": CLOCK + 2 * NANO, "cpu": 0.5},
            "end": {"at": CLOCK + 32 * NANO, "cpu": 0.5 + cpu},
        }
        for name, cpu in used.items()
    ]
    write_rows(folder / "watchers.jsonl", rows)
    return folder


def followed(path: Path) -> Path:
    """A run at a relay that lacks TCP_NODELAY, of whose users the keys and logins were followed; nothing is limited."""
    draw = random.Random(1)
    lines = [Line(port=20_000 + user, user=user) for user in range(3)]
    for line in lines:
        log_in(line)
        for number in range(90):
            line.type(3.0 + number * 0.3, slow_hops(draw), what="answer" if number % 10 == 9 else "echo")
    echoes = [(row["kernel_shown"] - row["kernel_sent"]) / 1e9 for line in lines for row in line.rows[1:]]
    histograms = [(f"interactive/keys/{name}", echoes) for name in ("echo", "echo_from_sent")]
    folder = RunFolder(path, steal=0.0, histograms=histograms, responses=lambda *_: [0.02, 0.03]).write()
    return write_lines(folder, lines)


def log_in(line: Line) -> None:
    """A connection, its key exchange, and a prompt after PAM has slept."""
    took = line.answer(0.1, [hop("on_cpu", "sshd", 2000.0)], size=0)
    took += line.answer(0.11, [hop("on_cpu", "sshd", 18_000.0)], size=1200)
    asleep = hop("sleeping", "sshd", 65_000.0, call="poll", other="systemd-logind", other_pid=300)
    took += line.answer(0.14, [asleep, hop("on_cpu", "bash", 4000.0)], size=90)
    line.note("login", 0.09, 0, line.received - 1, took + 30_000_000)


def slow_hops(draw: random.Random) -> list[Row]:
    """The way of a key through sshd, bash and a relay: one in ten is held back, one in five waits for a CPU."""
    waited = draw.choice([4.0, 6.0, 9.0, 12.0, 9000.0])
    held = [hop("held", "", 40_000.0 + draw.uniform(0, 3000), why="nagle")] if draw.random() < 0.1 else []
    relay = visit("relay.py", 60.0, 5.0, hop("timer", "relay.py", 5000.0, call="epoll_wait"))
    hops = at_shell(run_queue=waited, other="make" if waited > 100 else None)
    return [*hops[:-1], hop("network_stack", "", 3.0), *relay, *(held or hops[-1:])]


MARKS: list[Row] = [
    {"seconds": 0.0, "note": "the first users"},
    {"seconds": 12.0, "note": "starts are held", "holds_starts": True},
    {"seconds": 12.25, "note": "a second mark beside it"},
    {"seconds": 20.0, "note": "starts go on", "holds_starts": False},
    {"seconds": 23.21, "note": f"deploy of v2 <b>&amp; `more` | {'and on ' * 20}"},
    {"seconds": 31.9, "note": ""},
]


def metered() -> Iterator[Row]:
    about = {"source": "here", "subject": "pid:4711", "why": "the built-in host's process", "honesty": "shared, pinned"}
    yield {"about": about, "at": CLOCK}
    for second in range(32):
        cpu = {"usr": 20.0, "sys": 10.0, "irq": 1.0, "iowait": 2.0, "steal": 3.0, "idle": 64.0, "load": 36.0}
        row = {"cpu": cpu, "own": {"usr": 8.0, "sys": 4.0, "percent": 12.0, "others": 18.0, "irq": 1.0}}
        yield {"row": row, "at": CLOCK + (second + 1) * NANO, "seconds": 1.0}
    yield {"step": 0, "at": CLOCK + 32 * NANO, "sheet": meter_report(CLOCK + 32 * NANO)}


def sampled(path: Path) -> Path:
    """The valid run with a host that is sampled by cause and traced, a gap in the meters, devices and a flame graph."""
    folder = good(path)
    rows = [json.loads(row) for row in (folder / "meters.jsonl").read_text().splitlines()]
    kept = [row for row in rows if not 10 <= (row["at"] - CLOCK) / NANO <= 14]
    for number, row in enumerate(kept):
        if "row" in row:
            shares = {name: share * (1 + number % 3) for name, share in CAUSES.items()}
            row["row"]["by_cause"] = {"causes": {name: {"percent": share} for name, share in shares.items()}}
        if "sheet" in row:
            row["sheet"]["by_cause"] = by_cause()
            row["sheet"]["traffic"] = traced()["traffic"]
    kept.append({"gap": "it died", "at": CLOCK + 10 * NANO})
    (folder / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in kept))
    (folder / "flame.svg").write_text(FLAME)
    return folder


FLAME = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
CAUSES = {
    "user": 4.0,
    "system_calls": 1.5,
    "page_faults": 0.8,
    "softirq": 0.4,
    "dispatching": 0.2,
    "linking": 0.1,
    "mapping": 0.08,
    "loading": 0.06,
    "interrupts": 0.04,
    "unclassified": 0.02,
}
"""Percent of the host's CPUs."""


def by_cause() -> Row:
    causes = {
        name: {"percent": plain(share), "seconds": plain(0.6 * share), "count": missing(), "average": missing()}
        for name, share in CAUSES.items()
    }
    return {"value": {"causes": causes, "unclassified": 0.3, "about": {"samples": plain(2000)}}, "tier": "sampled"}


def cut_off(path: Path) -> Path:
    """A run that was killed while it measured: rows are incomplete, and no file says how it ended."""
    folder = sampled(path)
    for name in ("agent-0/series.jsonl", "agent-0/histograms.hlog", "meters.jsonl", "host/series.jsonl"):
        file = folder / name
        file.write_bytes(file.read_bytes()[: file.stat().st_size * 2 // 5])
    (folder / "agent-0" / "users.jsonl").unlink()
    (folder / "agent-0" / "agent.json").unlink()
    return folder


def never_began(path: Path) -> Path:
    """A run that was killed before its agent wrote anything."""
    folder = RunFolder(path).write()
    shutil.rmtree(folder / "agent-0")
    return folder


def many_classes(path: Path) -> Path:
    """A run with as many classes of transactions as the Emacs script has parts, and long names."""
    histograms = [
        (f"interactive/part%20{letter}%20of%20the%20script/{series}", [0.002 * (number + 1), 0.05] * 40)
        for number, letter in enumerate("ABCDEFGHIJKLMN")
        for series in ("response", "response_from_sent", "first_response")
    ]
    return RunFolder(path, histograms=histograms).write()


def search(
    path: Path,
    loads: Sequence[int] = (),
    doubtful: Sequence[int] = (4,),
    capacity: float = 30.5,
    refused_above: int = 60,
    **method: object,
) -> Path:
    """A search for the users whose p95 is below 2 s, at a host that has about 30; the driver was busy in one trial."""
    tried = loads or TRIALS
    settings = Method(**{"rule": "regression", "lowest": 1, "highest": 500, "start": 4, "whole": True, **method})  # type: ignore[arg-type]

    def responses(step: int, _: int, second: int) -> list[float]:
        chance = random.Random(f"{step} {second}")
        worst = 2.0 * math.exp(2.5 * (tried[step] / capacity - 1) + 0.05 * math.sin(7 * step))
        return [worst * chance.uniform(0.05, 1.05) for _ in range(2 + tried[step] // 8)]

    def trouble(row: Row) -> Row:
        broken = {"errors": {"reset": 2}} if tried[row["step"]] > refused_above else {}
        return row | broken | ({"cpu": 0.95} if row["step"] in doubtful else {})

    folder = RunFolder(path, users=tried, limits=["response.p95 < 2s"], responses=responses, edit=trouble).write()
    change_run(folder, search={"method": settings.json()})
    return folder


def rate_search(path: Path, rates: Sequence[float], users_are_few: bool, **method: object) -> Path:
    """A search for the rate whose p95 is below 2 s: some 20/s. Beyond, arrivals wait for a user, or for the host."""
    settings = Method(**{"rule": "regression", "lowest": 0.1, "highest": 100, "start": 5, "whole": False, **method})  # type: ignore[arg-type]

    def wait(step: int) -> float:
        return 1.7 * math.exp(3 * (rates[step] / 20 - 1))

    def responses(step: int, _: int, second: int) -> list[float]:
        chance = random.Random(f"{step} {second}")
        return [wait(step) + chance.uniform(0.1, 0.3) for _ in range(max(1, round(rates[step])))]

    due = arrivals(100, done=90, **({"under_way": 8, "waiting": 2} if users_are_few else {"under_way": 10}))

    delay = wait if users_are_few else lambda _: 0.001
    folder = RunFolder(path, users=[96] * len(rates), limits=["response.p95 < 2s"], responses=responses, delay=delay)
    folder.edit = lambda row: row | {"due": due}
    file = folder.write() / "run.json"
    run = json.loads(file.read_text())
    for step, rate in zip(run["steps"], rates, strict=True):
        step["swept"] = {"load": f"open:{rate}/s"}
        step["group"][0]["load"] = f"open:{rate}/s"
    file.write_text(json.dumps(run | {"search": {"method": settings.json()}}))
    return path


RATES = (5, 10, 20, 40, 18.57, 20, 21.78, 20, 18.57, 21.13, 20, 18.57, 21.13, *[18.57] * 5)
"""What a search for a rate asks for there."""

TRIALS = (4, 8, 16, 32, 64, 64, 25, 28, 32, 30, *[28] * 5)
"""What a search asks for at this host."""


def host_row(second: int) -> Row:
    return {
        "at": CLOCK + (second + 1) * NANO,
        "length": 1.0,
        "lines": {
            "connected": 4,
            "asking": 3,
            "blocked": 1,
            "peak": 4,
            "opened": 0,
            "refused": 0,
            "closes": {},
            "line_seconds": 4.0,
            "busiest": {"messages": 0, "characters_in": 0, "characters_out": 0},
        },
        "messages": {"in": 2, "out": 2},
        "characters": {
            "typed": 26,
            "in": 10,
            "out": 300,
            "echoed": 20,
            "line_in": 28,
            "line_out": 320,
            "erased": 4,
            "cut": 0,
        },
        "read_ahead": {"messages": 1, "characters": 5, "waited_seconds": 0.25},
        "reads": {"calls": 20, "seconds": 0.001},
        "writes": {"calls": 10, "seconds": 0.002},
        "wakes": {"count": 40, "seconds": 0.01, "longest": 0.004},
        "output_blocks": {"count": 1, "characters": 100, "least": 60},
        "pool": {"size": 16_777_216, "used": 0, "free": 16_777_216, "least_free": 16_776_016, "overflows": 0},
        "servers": {
            "number": 1,
            "messages": 2,
            "busy_seconds": 0.05,
            "busy": 0.05,
            "waited_seconds": 0.01,
            "mean_queue": 0.01,
        },
        "cpu": {"process": 0.02, "threads": [{"seconds": 0.02, "idle": 0.98, "run_wait": 0.0}]},
    }


def bad(path: Path) -> Path:
    """An invalid paced run with two agents."""

    def trouble(row: Row) -> Row:
        more = {"errors": {"timeout": 2, "reset": 1}, "cpu": 0.95, "run_wait": 0.2, "oldest": 12.0}
        return row | more if row["phase"] == "measure" else row

    return RunFolder(path, agents=2, load="paced:200ms", edit=trouble, lost=(3,)).write()


def sweep(path: Path) -> Path:
    """A sweep over three numbers of users; the third step is doubtful and a fourth was never reached."""

    def responses(step: int, _: int, second: int) -> list[float]:
        return [0.1 * (step + 1) + second / 1000] * (step + 1)

    def trouble(row: Row) -> Row:
        return row | {"cpu": 0.95} if row["step"] == 2 else row

    folder = RunFolder(
        path, users=(2, 4, 8, 16), measure=5, responses=responses, edit=trouble, ended="interrupted"
    ).write()
    series = folder / "agent-0" / "series.jsonl"
    series.write_text("".join(row + "\n" for row in series.read_text().splitlines() if json.loads(row)["step"] < 3))
    return folder


def batching(path: Path, seeds: Sequence[int] = (1, 2, 3, 4), holds: Sequence[str] = ("off", "20ms")) -> Path:
    """A sweep of TMux: it saves CPU at 400 users, not at 25, and always takes time. With a hold of 0 it costs CPU.

    Beside it a published table of 25 users.
    """
    points = [(seed, hold, users) for seed in seeds for hold in holds for users in (25, 400)]

    def slower(step: int, _: int, second: int) -> list[float]:
        return [{"off": 0.001, "0ms": 0.002, "20ms": 0.040}[points[step][1]]] * 10

    folder = RunFolder(path, users=[users for *_, users in points], measure=5, responses=slower).write()
    with edit_run(folder) as run:
        run["plan"] |= {"host": {"path": "user"}, "published_table": [PUBLISHED_TABLE]}
        for step, (seed, hold, users) in zip(run["steps"], points, strict=True):
            step["swept"] = {"seed": seed, "tmux": hold, "users": users}
    records = [batching_records(step, *point) for step, point in enumerate(points)]
    about = {"source": "here", "subject": "cpus:1", "why": "as asked for", "honesty": "isolated", "order": 2}
    meters = [{"about": about, "at": CLOCK}, *(meter for meter, _ in records)]
    (folder / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in meters))
    (folder / "wire.jsonl").write_text("".join(json.dumps(row) + "\n" for _, row in records))
    return folder


def batching_records(step: int, seed: int, hold: str, users: int) -> tuple[Row, Row]:
    """The meters' report and the record of the wire of a step with 130 keys a second."""
    begin, end = CLOCK + (7 * step + 2) * NANO, CLOCK + (7 * step + 7) * NANO
    keys, with_it = 650, hold != "off"
    per_key = {"off": {25: 100e-6, 400: 40e-6}, "0ms": {25: 200e-6, 400: 80e-6}, "20ms": {25: 103e-6, 400: 24e-6}}
    report = meter_report(end, 5.0, part=False)
    report["own"]["seconds"] = plain(per_key[hold][users] * keys * (1 + 0.02 * (seed - 2.5)))
    packets = keys * (1 if with_it else 3)
    ends = dict.fromkeys(("received_bytes", "received_dropped", "sent_bytes", "sent_packets", "sent_dropped"), 0)
    counters = {
        "segments": {"sent": 6 * keys},
        "messages": {"sent": keys},
        "held": {"sum_ns": 10_000_000 * 6 * keys, "max_ns": 20_000_000},
        "plain": {},
    }
    agent = {"cpu": 5_000_000, "status": {"wire": counters, "endpoint": {"dropped": {"to_host": 0}}}}
    first = {side: {**ends, "received_packets": 0} for side in ("driver", "host")}
    last = {side: {**ends, "received_packets": packets} for side in ("driver", "host")}
    both = {"driver": agent, "host": agent} if with_it else None
    row = {"step": step, "begin": {"at": begin, "tmux": both, **first}, "end": {"at": end, "tmux": both, **last}}
    return {"step": step, "at": end, "sheet": report}, row


PUBLISHED_TABLE: Row = {
    "table": {
        "title": "5 cps results for Telnet",
        "source": "A memo, 1993",
        "columns": ["ports", "usr", "sys", "response"],
        "rows": [[20, 5, 43, 29], [25, 6, 53, 40]],
    },
    "when": {"host.path": "user", "tmux": "off"},
    "users": "ports",
    "columns": {"usr": ["host.cpu.usr"], "sys": ["host.cpu.sys", "host.cpu.irq"], "response": ["response.mean"]},
    "units": {"response": "1ms"},
    "also": ["wire.packets_per_keystroke", "host.cpu_per_keystroke", "tmux.segments_per_datagram"],
}
