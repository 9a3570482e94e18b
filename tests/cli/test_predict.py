"""The verb `predict`: typed tables, run folders, refusals and exit codes."""

import json
import shlex
from pathlib import Path

import pytest

from cuesta.analysis.models.network import DELAY, Network, Station
from cuesta.errors import Exit
from tests.analysis.predict.seeds import EMACS, MCS, TMUX
from tests.analysis.solved import solve
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.run_folder import RunFolder, edit_run

DEMAND, DELAY_TIME, THINK = 0.1, 0.05, 2.0
TABLE = """
title = "A host of one station"
[table.rows]
columns = ["users", "rate", "busy"]
[table.rows.rows]
{rows}

[[points]]
configuration = "{name}"
users = "rows.{{row}}.users"
think = "2"
throughput = "rows.{{row}}.rate"
[points.utilization]
CPU = "rows.{{row}}.busy"
[[identity]]
formula = "rows.{{row}}.users >= 1"
"""


def network(servers: int = 1) -> Network:
    return Network([Station("line", DELAY_TIME, DELAY), Station("cpu", DEMAND, servers)], THINK)


def table(write: Write, *users: int, meter: float = DEMAND, name: str = "") -> Path:
    """A typed table of a host with one station, and of a meter that shows a number of seconds a transaction."""
    throughput = {n: solve(network(), n).throughput for n in users}
    rows = "\n".join(f'r{n} = [{n}, "{x:.5f}", "{meter * x:.5f}"]' for n, x in throughput.items())
    return write("table.toml", TABLE.format(rows=rows, name=name))


def test_more_users_of_a_known_host(write: Write, cuesta: Cuesta) -> None:
    rows = table(write, 2, 5, 10, 20, 30)
    document = cuesta("predict", rows, "--at", "users=25,60", "--json", "-").ends().json
    inside, outside = document["systems"][0]["figures"]
    for figure in (inside, outside):
        expected = solve(network(), figure["users"]).throughput
        assert figure["throughput"]["value"] == pytest.approx(expected, rel=5e-3)
        assert not figure["not_reported"]
    assert (inside["outside"], outside["outside"]) == (False, True)
    (capacity,) = document["systems"][0]["capacity"]
    assert capacity["saturation"]["value"] == pytest.approx(network().saturation, rel=0.02)
    assert not document["conflict"]


def test_what_if(write: Write, cuesta: Cuesta) -> None:
    asked = ("predict", table(write, 2, 5, 10, 20, 30), "--at", "users=40", "--json", "-")
    (system,) = cuesta(*asked, "--servers", "2", "--limit", "response.mean < 1s").ends().json["systems"]
    assert system["simulated"] is None
    what_if = system["what_if"]
    assert what_if["figures"][0]["response"]["value"] == pytest.approx(solve(network(2), 40).response, rel=0.02)
    assert what_if["capacity"][0]["saturation"]["value"] == pytest.approx(2 * network().saturation, rel=0.02)
    now, then = system["capacity"][0]["allowed"], what_if["capacity"][0]["allowed"]
    allowed = int(now["value"])
    assert solve(network(), allowed).response <= 1.02
    assert solve(network(), allowed + 2).response > 0.98
    assert then["value"] > 1.8 * now["value"]
    (system,) = cuesta(*asked, "--demand", "cpu=-50%").ends().json["systems"]
    faster = Network([Station("line", DELAY_TIME, DELAY), Station("cpu", DEMAND / 2)], THINK)
    half = system["what_if"]["figures"][0]["response"]["value"]
    assert half == pytest.approx(solve(faster, 40).response, rel=0.02)


def test_a_response_that_throughputs_leave_open_is_left_out(write: Write, cuesta: Cuesta) -> None:
    """Users who think 10 s and wait 0.3 s, by throughputs of two digits: these tell the cycle alone."""
    rows = "\n".join(f'r{n} = [{n}, "{n / 10.3:.2g}", "0.001"]' for n in (2, 5, 10, 20))
    path = write("table.toml", TABLE.format(rows=rows, name="").replace('think = "2"', 'think = "10"'))
    figures = cuesta("predict", path, "--json", "-").ends().json["systems"][0]["figures"]
    assert [figure["response"] for figure in figures] == [None] * 4
    assert figures[-1]["throughput"]["value"] == pytest.approx(20 / 10.3, rel=0.03)
    assert "20 users, Z+K 10.0 s: the band of R is too wide (" in cuesta("predict", path).row


def test_a_limit_that_the_rows_leave_open_is_not_reported(write: Write, here: Path, cuesta: Cuesta) -> None:
    """The station is so short, and hardly busy, that throughputs of three digits do not tell it."""
    host = Network([Station("line", 0.2, DELAY), Station("cpu", 0.02)], 10.0)
    rows = "\n".join(f'r{n} = [{n}, "{solve(host, n).throughput:.3g}", "0.001"]' for n in (5, 20, 50, 80))
    path = write("table.toml", TABLE.format(rows=rows, name="").replace('think = "2"', 'think = "10"'))
    ended = cuesta("predict", path, "--limit", "response.mean < 230ms", "--json", "out.json").ends(Exit.REFUSED)
    document = json.loads((here / "out.json").read_text())
    assert document["systems"][0]["capacity"][0]["allowed"] is None
    assert "response.mean < 230ms: NOT REPORTED: its 90 % band is too wide" in ended.row


def test_a_limit_that_changes_move_out_of_what_was_measured(write: Write, cuesta: Cuesta) -> None:
    """Three rows check nothing outside of them: the limit lies among them now, and with two servers beyond."""
    rows = table(write, 10, 20, 30, meter=0.001)
    asked = ("predict", rows, "--limit", "response.mean < 600ms", "--json", "-")
    allowed = cuesta(*asked).ends().json["systems"][0]["capacity"][0]["allowed"]["value"]
    assert solve(network(), round(allowed)).response == pytest.approx(0.6, rel=0.1)
    (system,) = cuesta(*asked, "--servers", "2").ends(Exit.REFUSED).json["systems"]
    assert system["capacity"][0]["allowed"]
    assert system["what_if"]["capacity"][0]["allowed"] is None


def test_users_beside_other_conditions(write: Write, cuesta: Cuesta) -> None:
    """They belong to each question that leaves them open, and else are one more."""
    rows = table(write, 2, 5, 10, 20, 30)
    asked = {
        ("--at", "think=3s", "--at", "think=1s"): [(25, 3), (25, 1)],
        ("--at", "users=15"): [(15, 2), (25, 2)],
        (): [(25, 2)],
    }
    for flags, loads in asked.items():
        (system,) = cuesta("predict", rows, *flags, "--users", "25", "--json", "-").json["systems"]
        assert [(each["users"], each["think"]) for each in system["figures"]] == loads


def test_the_tables_as_text(cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    text = cuesta("predict", TMUX, "--fit", "ports<=15", "--at", "ports=20,25,30").out
    for message in (
        "8 of 12 loads predicted; a station saturates at 29.0",
        "25  telnet          41.2 ms   33–55 ms",
        "held-out error 3.7 % (8 rows); 8 of 8 in their band",
        "in-kernel: CONFLICT: the response says",
        "30 ports, in-kernel: NOT REPORTED: forms that fit equally well",
        "never checked there: 30 ports; measured were 5 to 25",
    ):
        assert message in text
    text = cuesta("predict", MCS, "--configuration", "MR8.0", "--fit", "think=0", "--at", "think=10,5,3,1").out
    assert "4.47  4.46–4.48   4.64      3.60  +24 %" in text
    assert "below the 0.34 s" in text
    assert "characters/s 1.61" in cuesta("predict", EMACS, "--fit", "none").out


def test_a_meter_of_more_than_everything_is_rejected(write: Write, cuesta: Cuesta) -> None:
    rows = table(write, 2, 5, 10, 20, 30, meter=0.223)
    document = cuesta("predict", rows, "--at", "users=15", "--json", "-").json
    assert document["notes"] == ["CPU: 221 % busy in r30 is more than all of it: the meter is not used"]
    assert {each["by"] for each in document["systems"][0]["saturation"]} == {"response"}


def test_a_meter_of_something_else_is_a_conflict(write: Write, cuesta: Cuesta) -> None:
    rows = table(write, 2, 5, 10, 20, 30, meter=0.04)
    asked = cuesta("predict", rows, "--at", "users=15", "--check", "meters", "--json", "-")
    assert asked.ends(Exit.REFUSED).json["conflict"]


def test_runs_of_different_tapes_are_no_rows_of_one_system(tmp_path: Path, cuesta: Cuesta) -> None:
    folders = [RunFolder(tmp_path / name, users=(4,)).write() for name in ("a", "b")]
    with edit_run(folders[1]) as run:
        run["tapes"]["interactive"]["sha256"] = "11"
    cuesta("predict", *folders).ends(Exit.REFUSED, "are not runs of one system: tapes: interactive 00 against 11")


def test_a_real_sweep(write: Write, cuesta: Cuesta) -> None:
    """The built-in host with one server of 10 ms: what its own meter and the response say of the demand.

    Two servers saturate at 44 users, which is among those that were measured.
    """
    plan = """
        stagger = "5ms"
        settle = "500ms"
        measure = "2s"
        line_speed = 0
        think = "exp 150ms"
        key_rate = 200
        [host]
        service_time = "exp 10ms"
        servers = 1
    """
    path = write("sweep.toml", plan)
    path.write_text(path.read_text() + BUSY)
    cuesta("run", path, "--users", "10,20,40,80", "--out", "sweep").ends()
    (system,) = cuesta("predict", "sweep", "--users", "50", "--servers", "2", "--json", "-").ends().json["systems"]
    demands = [station for each in system["capacity"] for station in each["stations"]]
    assert max(each["demand"] / each["servers"] for each in demands) == pytest.approx(0.01, rel=0.35)
    now, then = system["capacity"][0], system["what_if"]["capacity"][0]
    assert then["throughput"] > 1.3 * now["throughput"]


REFUSED = [
    ([10], "", Exit.REFUSED, "1 row to fit: no model can be fitted"),
    ([2, 5, 10], "--fit users>100", Exit.REFUSED, "no row can be fitted"),
    ([2, 5, 10], "--limit 'response.p95 < 1s'", Exit.REFUSED, "the model gives means, and no other figure"),
    ([2, 5, 10, 20], "--demand disk=-20%", Exit.BAD_INPUT, "no such station: disk"),
    ([2, 5, 10], "--demand cpu=-120%", Exit.BAD_INPUT, "expected more than 0"),
    ([2, 5, 10], "--demand cpu=-5ms", Exit.BAD_INPUT, "expected a demand of more than 0 s"),
    ([2, 5, 10], "--users 0", Exit.USAGE, "expected a number from 1"),
    ([2, 5, 10], "--users many", Exit.USAGE, "expected a number"),
    ([2, 5, 10], "--at people=5", Exit.USAGE, "no such condition: people"),
    ([2, 5, 10], "--at 5", Exit.USAGE, "expected NAME=VALUE"),
    ([2, 5, 10], "--at think=5s", Exit.USAGE, "expected users, for the rows differ in it"),
    ([2, 5, 10], "--at 'users>=50'", Exit.USAGE, "--at: expected users=VALUE, got users>="),
    ([2, 5, 10], "--limit 'echo.mean < 1s'", Exit.REFUSED, "the rows have response times"),
    ([2, 5, 10], "--configuration x", Exit.USAGE, "there is no x"),
    ([2, 5, 10], "--margin 0%", Exit.USAGE, "--margin"),
    ([2, 5, 10], "--servers 0.5", Exit.USAGE, "--servers"),
    ([2, 5, 10], "--demand -20%", Exit.USAGE, "expected STATION=CHANGE"),
    ([2, 5, 10, 30], "--simulate --limit 'response.max < 1s'", Exit.REFUSED, "means and percentiles"),
    ([2, 5, 10, 30], "--limit 'response.p95 < 1s'", Exit.REFUSED, "--simulate gives percentiles of the model"),
    ([2, 5, 10, 30], "--seed 2", Exit.USAGE, "without --simulate"),
    ([2, 5, 10, 30], "--simulate --seed x", Exit.USAGE, "expected a whole number"),
]


@pytest.mark.parametrize(("users", "flags", "code", "text"), REFUSED)
def test_what_cannot_be_told_or_used(
    users: list[int], flags: str, code: Exit, text: str, write: Write, cuesta: Cuesta
) -> None:
    meter = 0.001 if len(users) == 1 else DEMAND
    ended = cuesta("predict", table(write, *users, meter=meter), *shlex.split(flags)).ends(code)
    assert text in " ".join(ended.err.split())


POINT = '[[points]]\nconfiguration = "a"\n'
BAD_TABLES = [
    ('[[identity]]\nformula = "1 = 1"\n', "no [[points]]"),
    (f'{POINT}throughput = "1"\n', "expected users"),
    (f'{POINT}users = "0"\nthroughput = "1"\n', "expected 1 or more"),
    (f'{POINT}users = "3"\nthink = "0 - 2"\nthroughput = "1"\n', "think: expected 0 or more, got -2"),
    (f'{POINT}users = "3"\nthroughput = "0 - 2"\n', "throughput: expected more than 0"),
    (f'{POINT}users = "3"\nspeed = "2"\nthroughput = "1"\n', "no such word: speed"),
    (f'{POINT}users = "3"\nthroughput = "1"\nservice = "slow"\n', "service: expected fixed or exponential"),
    (f'{POINT}users = "3"\n', "throughput or response"),
    (f'{POINT}users = "3"\nthroughput = "1"\nservers = {{ cpu = 0 }}\n', "expected a whole number from 1, got 0"),
    ("title = \n", "Invalid value"),
]


@pytest.mark.parametrize(("text", "message"), BAD_TABLES)
def test_tables_that_cannot_be_used(text: str, message: str, write: Write, cuesta: Cuesta) -> None:
    cuesta("predict", write("bad.toml", f'title = "t"\n{text}')).ends(Exit.BAD_INPUT, message, "bad.toml")


CELLS = [
    ("-1.0", "0.3", "0.1", "throughput: expected a number, 0 or more: t.r.x is '-1.0'"),
    ("−1.0", "0.3", "0.1", "t.r.x is '−1.0'"),
    ("0.9", "0.3", "-0.1", "utilization cpu: expected a number, 0 or more: t.r.u is '-0.1'"),
    ("0.9", "soon", "0.1", "response: expected a number, 0 or more: t.r.r is 'soon'"),
    ("1e300", "0.3", "0.1", "t.r.x is '1e300'"),
    ("3.0", "", "0.1", "c 5 users: no response is so short: R = N/X − Z − K is -3.33 s"),
    ("", "", "0.1", "c 5 users is left out: it has no throughput or response"),
]


@pytest.mark.parametrize("case", CELLS)
def test_cells_that_cannot_be_used(case: tuple[str, ...], write: Write, cuesta: Cuesta) -> None:
    """A table of one row of 5 users who think 5 s: throughput, response, and a meter."""
    *cells, message = case
    text = (
        f'title = "t"\n[table.t]\ncolumns = ["x", "r", "u"]\n[table.t.rows]\nr = {json.dumps(cells)}\n'
        '[[points]]\nconfiguration = "c"\nusers = "5"\nthink = "5"\nthroughput = "t.r.x"\nresponse = "t.r.r"\n'
        'utilization = { cpu = "t.r.u" }\n'
    )
    ended = cuesta("predict", write("bad.toml", text)).ends(Exit.BAD_INPUT if any(cells[:2]) else Exit.REFUSED)
    assert message in " ".join(ended.err.split())


def test_rows_of_equal_names_are_not_taken_for_one(write: Write, cuesta: Cuesta) -> None:
    """Both are called `A 96 users`; only one of them is fitted, and the other one is held out."""
    text = 'title = "t"\n[table.t]\ncolumns = ["x"]\n[table.t.rows]\nlight = ["9.0"]\nfull = ["30.0"]\n'
    for row, think in (("light", 10), ("full", 0)):
        text += f'[[points]]\nconfiguration = "A"\nusers = "96"\nthink = "{think}"\nthroughput = "t.{row}.x"\n'
        text += 'known_delay = "0.3"\n'
    (system,) = cuesta("predict", write("table.toml", text), "--fit", "think=0", "--json", "-").json["systems"]
    assert (system["rows"], system["held_out"]["rows"], system["held_out"]["own_split"]) == (1, 1, False)
    (figure,) = system["figures"]
    assert (figure["think"], figure["fitted"]) == (10, False)


@pytest.mark.parametrize("name", ["nowhere", "rows.csv"])
def test_a_folder_that_is_none(write: Write, cuesta: Cuesta, name: str) -> None:
    write("rows.csv", "users,throughput\n1,1\n")
    cuesta("predict", name).ends(Exit.BAD_INPUT, f"{name}: not a run folder")
