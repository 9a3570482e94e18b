"""Bisync lines: at Hercules as a 2703, and at a station that misbehaves, beside its own log."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import LIMIT, ended_after, ended_when
from tests.hercules import hercules
from tests.hosts.lines import host, over_tcp
from tests.hosts.log import Log

Summary = dict[str, Any]


def ebcdic(text: str) -> str:
    return text.encode("cp037").hex()


ANSWER = f"02 {ebcdic('ANSWER 1')} 03"
CHANNEL_PROGRAM = {
    0x000: "00000000 00000400",
    0x078: "00000000 00000420",  # where an interrupt of the line goes on
    0x400: "D20300480490 9C000604 82000480",  # start the first channel program, wait for an interrupt
    0x420: "91020044 47100406",  # again after a unit check: without a call its first read fails
    0x428: "91040044 4780040A",  # it has not ended: wait
    0x430: "D50300480490 47700400 D20300480494 47F00406",  # then the second one, and then all again
    0x480: "FE020000 00000000",
    0x490: "00000500 00000530",
    # Enable the line; read a bid, say ACK0, read a block, say ACK1, read EOT.
    0x500: "27000600 60000001 02000700 60000010 01000610 60000002",
    0x518: "02000720 60000080 01000612 60000002 020007A0 20000010",
    # Bid, read ACK0, send a block, read ACK1, send EOT.
    0x530: f"01000614 60000001 020007B0 60000010 01000620 600000{len(bytes.fromhex(ANSWER)):02x}",
    0x548: "020007C0 60000010 01000615 20000001",
    0x610: "1070 1061 2D 37",
    0x620: ANSWER,
}
"""Channel programs of System/370 for a 2703: a message is received (EOT ends the program), and one is sent."""


def test_hercules_as_a_2703_receives_a_message_and_sends_one(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    port, other = 2703, 2704
    write(
        "message.tape",
        """
        Set TypingSpeed 0ms
        Forever
          Transaction "message"
            Type "CUESTA 1 #42"
            Enter
            Wait+Delivered
          End
          Wait+Bytes 10
          Expect /ANSWER 1/
          Think 100ms
        End
        """,
    )
    write("plan.toml", f'tape = "message.tape"\nusers = 1\nsettle = 0\nmeasure = "{LIMIT}"\n' + BUSY)
    line = f"0604 2703 lport={port} lhost=127.0.0.1 rhost=127.0.0.1 rport={other} dial=NO lnctl=BSC"
    with hercules(here, [line], CHANNEL_PROGRAM, line=port), ended_after(20):
        code, summary = played(f"bsc://127.0.0.1:{port}?framing=hercules&role=primary", capsys)
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    assert summary["errors"]["count"] == 0, summary["errors"]
    (carried,) = summary["steps"][0]["bisync"]["lines"]
    assert carried["characters_out"] % 12 == carried["characters_in"] % 8 == 0
    assert abs(carried["characters_out"] / 12 - carried["characters_in"] / 8) <= 1
    assert all(count == 0 for count in summary["steps"][0]["bisync"]["counters"].values())
    # Hercules sends an answer in two pieces, the second when the first is acknowledged. If that is delayed,
    # it comes 36 to 40 ms later.
    assert summary["response"]["p50"] < 0.03


def played(target: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, Summary]:
    code = main(["run", "plan.toml", "--target", target, "--meters", "none", "--quiet", "--json", "-", "--out", "out"])
    said = capsys.readouterr()
    assert said.out, said.err
    return code, json.loads(said.out)


QUICK = "reply_timeout=1500ms&primary_bid_timeout=1400ms&text_gap=1s&wack_pause=50ms&wack_delay=50ms"
"""Timers shorter than Multics', so that lost answers cost little, and longer than a busy machine delays an answer."""
ENOUGH = 6
"""How often the station does each thing that it does wrong."""


def test_a_station_that_misbehaves_gets_each_message_once(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "\n".join(
        f'  Type "message {number} "\n  Type "${{name}}"\n  Enter\n  Wait+Delivered' for number in range(100)
    )
    write("messages.tape", f"Set TypingSpeed 0ms\nThink 300ms\nForever\n{rows}\nEnd\n")
    write("users.csv", "name\nann\nbob\neve\n")
    write(
        "plan.toml",
        f'tape = "messages.tape"\nusers = 3\ndata = "users.csv"\nsettle = 0\nmeasure = "{LIMIT}"\n' + BUSY,
    )
    log = here / "log.jsonl"

    def times(did: str) -> list[int]:
        """How often the station has done it, on each line."""
        return [len(rows) for rows in Log.read(log).by_connection(did) if rows]

    def has_seen_enough(_: Path) -> bool:
        return len(times("block")) == 3 and min(sum(times(did)) for did in ("nak", "wack", "lost")) >= ENOUGH

    with over_tcp(host("bisync_station", log), here) as reached, ended_when(has_seen_enough):
        code, summary = played(f"{reached.target.replace('tcp:', 'bsc:')}?{QUICK}", capsys)
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    assert summary["errors"]["count"] == 0, summary["errors"]
    figures, did = summary["steps"][0]["bisync"], Log.read(log)
    sequences = sorted(line["sequence"] for line in figures["lines"])
    taken = [
        [row["bytes"].encode("latin-1").decode("cp037") for row in rows] for rows in did.by_connection("block") if rows
    ]
    for texts in taken:
        # In order, each once.
        name = texts[0].split()[-1]
        assert texts == [f"message {number % 100} {name}" for number in range(len(texts))]
    # The last message of a user may be taken and not acknowledged when the run ends.
    assert all(0 <= len(texts) - sent <= 1 for texts, sent in zip(sorted(taken, key=len), sequences, strict=True))
    counters = figures["counters"]
    # After measuring each user may finish a message: one refusal, one lost answer, or three that say busy.
    assert 0 <= sum(times("nak")) - counters["rejected_output"] <= 3
    assert 0 <= sum(times("wack")) - counters["wacks_received"] <= 3 * 3
    assert counters["timeouts"] == counters["bad_responses"]
    assert 0 <= sum(times("lost")) - counters["timeouts"] <= 3
    assert counters["retries_exceeded"] == counters["bids_failed"] == counters["invalid_input"] == 0


def test_wrapped_lines_come_in_pairs(here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("message.tape", 'Type "x"\nEnter\nWait+Delivered\n')
    assert main(["run", "message.tape", "--users", "3", "--quiet"]) == Exit.BAD_INPUT
    assert "users: 3 lines at `bsc-loop` leave one without another" in capsys.readouterr().err
    assert main(["search", "message.tape", "--limit", "response.p95 < 1s", "--users", "2"]) == Exit.BAD_INPUT
    assert "come in pairs" in capsys.readouterr().err


def test_both_stations_send_at_the_speed_of_the_plan(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("message.tape", f'Set TypingSpeed 0ms\nForever\n  Type "{"x" * 200}"\n  Enter\n  Wait+Delivered\nEnd\n')
    plan = f'tape = "message.tape"\nusers = 2\nsettle = "500ms"\nmeasure = "{LIMIT}"\nline_speed = 9600\n'
    write("plan.toml", plan + BUSY)
    with ended_after(10):
        code, summary = played("host:", capsys)
    assert (code, summary["invalid_because"]) == (Exit.INTERRUPTED, [])
    on_the_line = 200 * 8 / 9600
    # A message waits for the other station's, if that has bid before.
    assert on_the_line <= summary["response"]["min"] < 4 * on_the_line
    assert all(0 < line["baud"] < 9600 for line in summary["steps"][0]["bisync"]["lines"])


def test_every_wack_is_counted_while_no_text_passes(
    here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("message.tape", 'Think 500ms\nType "x"\nEnter\nWait+Delivered\n')
    write("plan.toml", f'tape = "message.tape"\nusers = 1\nsettle = 0\nmeasure = "{LIMIT}"\n' + BUSY)
    log, seen = here / "log.jsonl", 0

    def has_seen_enough(_: Path) -> bool:
        nonlocal seen
        seen = wacks()
        return seen >= 20

    def wacks() -> int:
        return sum(len(rows) for rows in Log.read(log).by_connection("wack"))

    with over_tcp(host("busy_station", log), here) as reached, ended_when(has_seen_enough):
        _, summary = played(f"{reached.target.replace('tcp:', 'bsc:')}?{QUICK}", capsys)
    assert not summary["valid"]
    # The last one may be on its way when the run is told to end; others come while the user may still finish.
    assert seen - 1 <= summary["steps"][0]["bisync"]["counters"]["wacks_received"] <= wacks()
