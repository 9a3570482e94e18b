"""`cuesta meters` from the command line, on this machine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cuesta import _native
from cuesta.cli import main
from cuesta.cli.verbs.meters import with_word
from cuesta.errors import Exit


@pytest.fixture(autouse=True)
def _state(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "state"))


def data(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert main(["meters", *arguments]) == Exit.GOOD
    return [json.loads(row) for row in capsys.readouterr().out.splitlines()]


def test_rows_come_at_their_interval_and_an_average_after_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "100ms", "3"]) == Exit.GOOD
    head, *rows, average, last = capsys.readouterr().out.splitlines()
    assert head.split()[:2] == ["time", "%usr"]
    assert (len(rows), average) == (3, "average")
    assert len(last.split()) == len(rows[0].split()) == len(head.removesuffix("(plain)").split())


def test_json_rows_are_whole_reports_that_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = data(capsys, "200ms", "2", "--json", "--plain")
    assert second["at"] > first["at"]
    assert 0.1 <= second["seconds"] < 20
    cpu = second["cpu"]
    assert sum(cpu[name]["value"] for name in ("usr", "sys", "irq", "iowait", "steal", "idle")) == pytest.approx(100)
    assert cpu["load"]["value"] == pytest.approx(100 - cpu["idle"]["value"])
    assert {figure["tier"] for figure in cpu.values()} == {"plain"}


def test_each_caller_has_its_own_interval(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    mine, yours = str(here / "mine"), str(here / "yours")
    for file in (mine, yours):
        assert main(["meters", "--reset", "--since", file]) == Exit.GOOD
    long = json.loads(out(capsys, "--report", "--since", mine, "--json"))
    assert main(["meters", "--reset", "--since", yours]) == Exit.GOOD
    capsys.readouterr()
    short = json.loads(out(capsys, "--report", "--since", yours, "--json"))
    again = json.loads(out(capsys, "--report", "--since", mine, "--json"))
    assert short["seconds"] < again["seconds"]
    assert again["seconds"] > long["seconds"], "a report does not start a new interval"
    assert "nothing samples between two commands" in again["by_cause"]["why"]
    both = json.loads(out(capsys, "--report", "--reset", "--since", mine, "--json"))
    after = json.loads(out(capsys, "--report", "--since", mine, "--json"))
    assert after["seconds"] < both["seconds"]


def out(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["meters", *arguments]) == Exit.GOOD
    return capsys.readouterr().out


def test_words_replace_the_flags(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    mine = str(here / "mine")
    assert main(["meters", "reset", "--since", mine]) == Exit.GOOD
    assert "METERS" in out(capsys, "report", "--since", mine)
    assert main(["meters", "record", str(here / "service.profile"), "200ms"]) == Exit.GOOD
    assert json.loads((here / "service.profile").read_text())["format"] == 1
    assert main(["meters", "1", "2", "3"]) == Exit.USAGE


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("", "rows"),
        ("5", "rows 5"),
        ("1 60 --pid 7", "rows 1 60 --pid 7"),
        ("--exact 300ms 1 --json", "rows --exact 300ms 1 --json"),
        ("--front-end RUN", "rows --front-end RUN"),
        ("1 -3", "rows 1 -3"),
        ("--report --since f", "report --since f"),
        ("--pid 7 --reset --report", "report --reset --pid 7"),
        ("--reset --cpus 0-3", "reset --cpus 0-3"),
        ("10m --record f --plain", "record f 10m --plain"),
        ("--record=f --pid 7 10m", "record f --pid 7 10m"),
        ("--record f --report --reset 10m", "record f --report --reset 10m"),
        ("report --reset", "report --reset"),
        ("--help", "--help"),
        ("5 --help", "rows 5 --help"),
    ],
)
def test_the_word_that_is_meant_comes_first(arguments: str, meant: str) -> None:
    assert list(with_word(arguments.split())) == meant.split()


@pytest.mark.parametrize(
    ("word", "flags"),
    [
        ("rows", {"json", "plain", "exact", "calls", "pid", "cgroup", "cpus", "from", "front-end"}),
        ("report", {"since", "reset", "json", "pid", "cgroup", "cpus", "from"}),
        ("reset", {"since", "pid", "cgroup", "cpus", "from"}),
        ("record", {"plain", "exact", "calls", "pid", "cgroup", "cpus", "from"}),
        ("profile", {"fraction", "flame", "folded", "json", "pid", "cgroup", "cpus"}),
        ("stream", set()),
    ],
)
def test_a_word_has_help_with_its_own_flags(capsys: pytest.CaptureFixture[str], word: str, flags: set[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(["meters", word, "--help"])
    said = capsys.readouterr().out
    assert raised.value.code == 0
    assert said.startswith(f"usage: cuesta meters {word} ")
    assert set(
        re.findall(r"^  .*?--([\w-]+)", said.partition("options:")[2].partition("examples:")[0], re.MULTILINE)
    ) == flags | {"help"}


def test_a_program_asks_for_a_stream() -> None:
    command = [sys.executable, "-m", "cuesta", "meters", "stream"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write('{"every": 0.1, "sampled": false}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["subject"] == "machine"
        process.communicate(timeout=30)
    assert process.returncode == 0


def test_an_interval_is_kept_by_session_and_subject(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    own = str(os.getpid())
    assert main(["meters", "--reset", "--pid", own]) == Exit.GOOD
    (kept,) = (here / "state/cuesta/meters").iterdir()
    assert kept.name.endswith(f"-pid%3A{own}.json")
    (here / "state/cuesta/meters/session-999999999-1-machine.json").write_text("{}")
    assert main(["meters", "--reset"]) == Exit.GOOD
    names = [path.name for path in (here / "state/cuesta/meters").iterdir()]
    assert len(names) == 2, f"files of ended sessions must be deleted: {names}"
    assert "SUBJECT" in out(capsys, "--report", "--pid", own)


@pytest.mark.parametrize("leader", [0, 999_999_999])
def test_a_session_with_an_invisible_leader_keeps_its_interval(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, leader: int
) -> None:
    monkeypatch.setattr(os, "getsid", lambda _: leader)
    assert main(["meters", "--reset"]) == Exit.GOOD
    assert "METERS" in out(capsys, "--report")


def test_a_report_without_an_interval_says_how_to_begin_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "--report"]) == Exit.BAD_INPUT
    assert "`cuesta meters --reset` begins one" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"at": 5}', "\x00"])
def test_a_file_that_holds_no_reading_is_refused(capsys: pytest.CaptureFixture[str], here: Path, text: str) -> None:
    (here / "kept").write_text(text)
    assert main(["meters", "--report", "--since", str(here / "kept")]) == Exit.BAD_INPUT
    said = capsys.readouterr().err
    assert "not a reading that `cuesta meters --reset` wrote" in said
    assert "begins a new one" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pid", "none"], "expected `machine`"),
        (["--pid", "4194305"], "no such process"),
        (["--cgroup", "/no/such"], "no such control group"),
        (["--cpus", "4000"], "no such CPU: 4000"),
        (["--cpus", "3-1"], "expected `machine`"),
        (["1ms"], "at least 50ms"),
        (["soon"], "cuesta meters: INTERVAL"),
        (["record", "x", "abc"], "cuesta meters record: INTERVAL"),
        (["profile", "abc"], "cuesta meters profile: SECONDS"),
        (["1", "-3"], "COUNT"),
        (["reprot"], "or a word, which stands first: rows, report, reset,"),
        (["1", "--report"], "cuesta meters report: one argument too many: 1"),
        (["1", "--since", "x"], "cuesta meters rows: no such flag: --since"),
        (["--reset", "--json", "x"], "cuesta meters reset: no such flag: --json"),
        (["report", "--sinc", "x"], "no such flag: --sinc; did you mean --since?"),
        (["profile", "1", "--plain"], "cuesta meters profile: no such flag: --plain"),
        (["--from", "box://9100"], "not a URL"),
    ],
)
def test_impossible_subjects_and_flags_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["meters", *arguments]) in (Exit.USAGE, Exit.FAILED)
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["record"], "required: FILE"),
        (["--record"], "--record: expected one argument"),
        (["--from", "box:9100"], "--from: expected a URL such as http://host:9100/metrics, got 'box:9100'"),
        (["--pid", "1", "--cpus", "0"], "--cpus: not allowed with argument --pid"),
    ],
)
def test_arguments_that_do_not_fit_a_word(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    with pytest.raises(SystemExit) as left:
        main(["meters", *arguments])
    assert left.value.code == Exit.USAGE
    assert said in capsys.readouterr().err


def test_ctrl_c_ends_rows_with_their_average() -> None:
    command = [sys.executable, "-m", "cuesta", "meters", "100ms"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate(timeout=30)
    # A busy machine may delay a reading, and its row says so.
    errors = [row for row in err.splitlines() if "a gap: this reading came" not in row]
    assert (process.returncode, "average\n" in rest, errors) == (0, True, [])


def test_a_process_that_ends_gives_reasons_and_no_failure(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program:
        assert main(["meters", "--reset", "--pid", str(program.pid), "--since", str(here / "kept")]) == Exit.GOOD
        assert program.stdin
        program.stdin.close()
        program.wait(30)
    assert main(["meters", "--report", "--pid", str(program.pid), "--since", str(here / "kept")]) == Exit.FAILED
    assert "no such process" in capsys.readouterr().err


def test_an_unprivileged_user_can_meter_and_learns_what_is_missing() -> None:
    def work() -> str:
        meters = _native.Meters.start('{"subject": "machine"}', causes=True)
        begun = time.process_time()
        while time.process_time() < begun + 0.3:  # let some clock ticks pass
            pass
        return meters.report()

    meter_report = as_nobody(work)
    assert meter_report["cpu"]["idle"]["tier"] == "plain"
    assert meter_report["counts"]["major_faults"]["tier"] == "plain"
    assert meter_report["traffic"]["run_delay"]["value"] >= 0
    if int(Path("/proc/sys/kernel/perf_event_paranoid").read_text()) > 0:
        said = " ".join([*meter_report["notes"], meter_report["by_cause"].get("why", "")])
        assert "perf_event_paranoid" in said or "CAP_PERFMON" in said, said


def as_nobody(work: Callable[[], str]) -> dict[str, Any]:
    """Run `work` in a child process that is not root and return the JSON that `work` printed."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            os.write(writer, work().encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writer)
    with open(reader, "rb") as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    result: dict[str, Any] = json.loads(text)
    return result
