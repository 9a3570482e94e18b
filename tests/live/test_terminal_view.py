"""The live view at real runs, on a real pseudo-terminal; each ends when it has been seen."""

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cuesta.engine.console import Requests
from cuesta.errors import Exit
from cuesta.live import About, LiveLimit
from cuesta.live.history import SECONDS
from cuesta.live.interaction import Interaction
from cuesta.live.terminal_view import Painter, TerminalView
from cuesta.records.observation import Observation
from tests.busy import BUSY
from tests.conftest import Write
from tests.enough import LIMIT
from tests.snapshots import snapshot
from tests.watched_terminal import ALTERNATE, WatchedTerminal, watched

TAPE = """
Set Echo timed
Set KeyRate 30cps
Forever
  Transaction "status"
    Type "print status"
    Enter
    Wait+Bytes@5s 50
  End
  Think uniform 100ms 300ms
End
"""
PLAN = f"""
name = "watched"
tape = "watched.tape"
users = 4
stagger = "1ms"
settle = "200ms"
measure = "{LIMIT}"
limits = ["response.p95 < 60s"]
meters = "none"
{BUSY}
"""
BLOCKS = "[▁▂▃▄▅▆▇█ ]*[▁▂▃▄▅▆▇█]"
TIMES = r"p50 +[\d.,]+ [mµn]?s +p95 +[\d.,]+ [mµn]?s +p99 +[\d.,]+ [mµn]?s"


@pytest.fixture
def plan(write: Write) -> str:
    write("watched.tape", TAPE)
    return str(write("watched.toml", PLAN))


def marks(folder: Path) -> list[str]:
    return [json.loads(row)["note"] for file in folder.rglob("marks.jsonl") for row in file.read_text().splitlines()]


@pytest.mark.parametrize("size", [(80, 24), pytest.param((120, 40), marks=pytest.mark.nightly)])
def test_a_run_is_shown_and_steered_by_keys(here: Path, plan: str, size: tuple[int, int]) -> None:
    with watched(here, size, "run", plan, "--out", "out") as terminal:
        terminal.shows(r"^watched +(starting|settling|measuring)")
        terminal.shows(rf"^ECHO +{TIMES} +{BLOCKS}$")
        terminal.shows(rf"^RESPONSE +{TIMES} +{BLOCKS}$")
        terminal.shows(r"^USERS +4 .*typing.*thinking")
        terminal.shows(r"^LIMIT +response.p95 < 60s +now +[\d.]+ ms ░+ +0%$")
        assert ALTERNATE in terminal.emulator.mode
        look_at_users(terminal)
        terminal.types("mlunch\r")
        terminal.shows(r"^marked at \d:\d\d")
        terminal.types("p")
        terminal.shows("^who has not started waits")
        terminal.shows("p start again")
        terminal.types("q")
        assert terminal.ends() == Exit.INTERRUPTED
        terminal.shows("^RESPONSE +.* users") if size[1] > 24 else terminal.shows("^RUN FOLDER out")
    assert marks(here / "out") == ["lunch", "starts are held"]
    assert (here / "out" / "report.html").exists()


def test_users_are_added_by_keys(here: Path, plan: str) -> None:
    with watched(here, (80, 24), "run", plan, "--out", "out") as terminal:
        terminal.shows("^ECHO +p50")
        terminal.types("+2x\x7f")
        terminal.shows("^how many users are to come: 2▏")
        terminal.types("\r")
        terminal.shows(r"users \+2 at [\d.]+ s: 6 users from [\d.]+ s on")
        terminal.shows("^USERS +6 ")
        terminal.types("q")
        assert terminal.ends() == Exit.INTERRUPTED
    assert [step["group"][0]["users"] for step in json.loads((here / "out/run.json").read_text())["steps"]] == [4, 6]


def look_at_users(terminal: WatchedTerminal) -> None:
    """The slowest, the next one, one by its number, and back."""
    terminal.types("s")
    first = terminal.shows(r"^USER (\d) +(slowest|typical) \(1 of 4\)")
    assert first[2] == "slowest"
    terminal.shows(r"^.?> print st")
    terminal.types("\x1b[C")
    assert terminal.shows(r"^USER (\d) .*\(2 of 4\)")[1] != first[1]
    terminal.types("3\r")
    terminal.shows("^USER 3")
    terminal.types("\x1b")
    terminal.shows("^USERS")


@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_terminal_is_as_it_was_whatever_ends_the_run(here: Path, plan: str, kill: signal.Signals) -> None:
    with watched(here, (80, 24), "run", plan, "--out", "out") as terminal:
        terminal.shows("^ECHO +p50")
        assert not terminal.is_as_before()
        terminal.process.send_signal(kill)
        assert terminal.ends() == (-signal.SIGKILL if kill == signal.SIGKILL else Exit.INTERRUPTED)


def test_ctrl_c_stops_and_a_second_one_ends_at_once(here: Path, write: Write, plan: str) -> None:
    write("watched.tape", TAPE.replace("Wait+Bytes@5s 50", "Wait+Line@90s /never/"))  # which it waits for at the end
    with watched(here, (80, 24), "run", plan, "--out", "out") as terminal:
        terminal.shows("^USERS +4 +4 awaiting an answer")
        terminal.types("\x03")
        terminal.shows("^stopping; what was measured is kept")
        assert b"cuesta: stopping" not in terminal.written, "it would stand between the rows of the view"
        terminal.types("\x03")
        assert terminal.ends() == Exit.INTERRUPTED


def test_a_run_that_was_stopped_takes_the_terminal_again(here: Path, plan: str) -> None:
    with watched(here, (80, 24), "run", plan, "--out", "out") as terminal:
        terminal.shows("^ECHO +p50")
        terminal.process.send_signal(signal.SIGSTOP)
        terminal.takes_back()
        terminal.process.send_signal(signal.SIGCONT)
        terminal.until(lambda: ALTERNATE in terminal.emulator.mode, "the alternate screen")
        terminal.shows("^USERS")
        terminal.types("q")
        terminal.ends()


def test_the_view_follows_the_window(here: Path, plan: str) -> None:
    with watched(here, (80, 24), "run", plan, "--out", "out") as terminal:
        terminal.shows("^ECHO +p50")
        terminal.resize(140, 30)
        terminal.until(lambda: "this view takes" in terminal.emulator.display[29], "the last row, wider and lower")
        terminal.resize(60, 15)
        terminal.until(lambda: terminal.emulator.display[14].startswith("p hold starts"), "the last row, higher")
        terminal.types("q")
        terminal.ends()


@pytest.mark.parametrize(
    ("size", "more", "environment"),
    [
        ((80, 24), ["--plain"], {}),
        ((80, 24), ["--quiet"], {}),
        ((59, 24), [], {}),
        ((80, 14), [], {}),
        ((80, 24), [], {"TERM": "dumb"}),
    ],
)
def test_without_a_view_nothing_but_rows_is_written(
    here: Path, plan: str, size: tuple[int, int], more: list[str], environment: dict[str, str]
) -> None:
    with watched(here, size, "run", plan, "--out", "out", "--measure", "300ms", *more, **environment) as terminal:
        terminal.ends()
        assert b"\x1b[?1049h" not in terminal.written
        assert b"RUN FOLDER" in terminal.written


def test_no_colour_where_none_is_wanted(here: Path, plan: str) -> None:
    with watched(here, (80, 24), "run", plan, "--out", "out", NO_COLOR="1") as terminal:
        terminal.shows("^LIMIT +response.p95 < 60s +now")
        cells = (cell for row in terminal.emulator.buffer.values() for cell in row.values())
        assert {(cell.fg, cell.bg) for cell in cells} == {("default", "default")}
        terminal.types("q")
        terminal.ends()


def test_in_the_background_a_run_shows_rows_and_is_not_stopped_by_its_shell(here: Path, plan: str) -> None:
    shell = ["bash", "--norc", "-ic", f"{sys.executable} -m cuesta run {plan} --out out --measure 300ms & wait"]
    terminal = WatchedTerminal(here, (80, 24), shell)
    try:
        terminal.ends()
        assert b"\x1b[?1049h" not in terminal.written
        assert b"RUN FOLDER" in terminal.written
    finally:
        terminal.close()


def busy_second(second: int) -> Observation:
    """What is seen of a busy run in one second."""
    times = [(second + number) % 97 / 100 for number in range(500)]
    glimpses: list[dict[str, Any]] = [
        {"user": (second + number) % 96, "group": "g", "because": because, "doing": "keying"}
        | {"waited": second / 100, "transactions": 3, "mean": 0.3}
        for because in ("slowest", "typical")
        for number in range(5)
    ]
    return Observation(
        snapshots=[
            snapshot(
                seconds=float(second),
                users=96,
                keys=480 + second,
                transactions=40 + second,
                response=times[:40],
                echo=times,
                lateness=times,
                doing={"keying": 37 + second, "thinking": 45, "awaiting_answer": 14},
                glimpses=glimpses,
            )
        ]
    )


def test_the_view_takes_at_most_a_hundredth_of_a_core(here: Path) -> None:
    """Four looks a second at a busy run, on 120 columns and 40 rows with all of a history; each second is new."""
    seen = [busy_second(second) for second in range(SECONDS)]
    about = About("busy", [LiveLimit("echo.p95 < 2s", "echo.p95", 2.0)])
    interaction = Interaction(about, Requests(), threading.Event())
    with open(here / "written", "w", encoding="utf-8") as output:
        console = Console(file=output, force_terminal=True, width=120, height=40, color_system="256")
        painter = Painter(console)

        def draw_a_minute() -> float:
            begin = time.thread_time()
            for each in seen:
                for _ in range(4):
                    if interaction.see(replace(each)):
                        painter.paint(interaction.rows([], 0.01, 120, 40), (120, 40))
            return time.thread_time() - begin

        draw_a_minute()  # from now on there is a history
        spent = draw_a_minute()
    assert (here / "written").stat().st_size > 2 * SECONDS * 1000, "most rows are drawn anew each second"
    assert spent < 0.01 * SECONDS, f"{spent:.2f} s of CPU time for {SECONDS} s"


def test_what_is_told_when_the_view_has_ended_goes_to_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "terminal").open("w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        view = TerminalView(About("a run"), Requests(), threading.Event())
        view.close()
        reading, writing = os.pipe()  # with the numbers that the view's own pipe had
        os.set_blocking(reading, False)
        view.tell("late")
    with pytest.raises(BlockingIOError):
        os.read(reading, 1)
    os.close(reading)
    os.close(writing)
