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
from cuesta.cli.verbs.meters import with_word
from cuesta.errors import Exit
from tests.conftest import Cuesta


@pytest.fixture(autouse=True)
def _state(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "state"))


def test_rows_come_at_their_interval_and_an_average_after_them(cuesta: Cuesta) -> None:
    head, *rows, average, last = cuesta("meters", "100ms", "3").ends().out.splitlines()
    assert head.split()[:2] == ["time", "%usr"]
    assert (len(rows), average) == (3, "average")
    assert len(last.split()) == len(rows[0].split()) == len(head.removesuffix("(plain)").split())


def test_json_rows_are_whole_reports_that_add_up(cuesta: Cuesta) -> None:
    first, second = map(json.loads, cuesta("meters", "200ms", "2", "--json", "--plain").ends().out.splitlines())
    assert second["at"] > first["at"]
    assert 0.1 <= second["seconds"] < 20
    cpu = second["cpu"]
    assert sum(cpu[name]["value"] for name in ("usr", "sys", "irq", "iowait", "steal", "idle")) == pytest.approx(100)
    assert cpu["load"]["value"] == pytest.approx(100 - cpu["idle"]["value"])
    assert {figure["tier"] for figure in cpu.values()} == {"plain"}


def test_each_caller_has_its_own_interval(cuesta: Cuesta) -> None:
    def report(file: str, *more: str) -> dict[str, Any]:
        document: dict[str, Any] = cuesta("meters", "--report", *more, "--since", file, "--json").ends().json
        return document

    for file in ("mine", "yours"):
        cuesta("meters", "--reset", "--since", file).ends()
    long = report("mine")
    cuesta("meters", "--reset", "--since", "yours").ends()
    short, again = report("yours"), report("mine")
    assert short["seconds"] < again["seconds"]
    assert again["seconds"] > long["seconds"], "a report does not start a new interval"
    assert "nothing samples between two commands" in again["by_cause"]["why"]
    both = report("mine", "--reset")
    assert report("mine")["seconds"] < both["seconds"]


def test_words_replace_the_flags(cuesta: Cuesta, here: Path) -> None:
    cuesta("meters", "reset", "--since", "mine").ends()
    assert "METERS" in cuesta("meters", "report", "--since", "mine").ends().out
    cuesta("meters", "record", "service.profile", "200ms").ends(Exit.GOOD, "recorded: service.profile")
    recorded = json.loads((here / "service.profile").read_text())
    assert (recorded["format"], recorded["sheet"]["subject"]) == (1, "machine")


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
def test_a_word_has_help_with_its_own_flags(cuesta: Cuesta, word: str, flags: set[str]) -> None:
    text = cuesta("meters", word, "--help").ends().out
    assert text.startswith(f"usage: cuesta meters {word} ")
    options = text.partition("options:")[2].partition("examples:")[0]
    assert set(re.findall(r"^  .*?--([\w-]+)", options, re.MULTILINE)) == flags | {"help"}


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


def test_an_interval_is_kept_by_session_and_subject(cuesta: Cuesta, here: Path) -> None:
    own, kept = str(os.getpid()), here / "state/cuesta/meters"
    cuesta("meters", "--reset", "--pid", own).ends()
    (file,) = kept.iterdir()
    assert file.name.endswith(f"-pid%3A{own}.json")
    (kept / "session-999999999-1-machine.json").write_text("{}")
    cuesta("meters", "--reset").ends()
    names = [path.name for path in kept.iterdir()]
    assert len(names) == 2, f"files of ended sessions must be deleted: {names}"
    assert "SUBJECT" in cuesta("meters", "--report", "--pid", own).ends().out


@pytest.mark.parametrize("leader", [0, 999_999_999])
def test_a_session_with_an_invisible_leader_keeps_its_interval(
    cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch, leader: int
) -> None:
    monkeypatch.setattr(os, "getsid", lambda _: leader)
    cuesta("meters", "--reset").ends()
    assert "METERS" in cuesta("meters", "--report").ends().out


def test_a_report_without_an_interval_says_how_to_begin_one(cuesta: Cuesta) -> None:
    cuesta("meters", "--report").ends(Exit.BAD_INPUT, "`cuesta meters --reset` begins one")


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"at": 5}', "\x00"])
def test_a_file_that_holds_no_reading_is_refused(cuesta: Cuesta, here: Path, text: str) -> None:
    (here / "kept").write_text(text)
    message = "not a reading that `cuesta meters --reset` wrote"
    cuesta("meters", "--report", "--since", "kept").ends(Exit.BAD_INPUT, message, "begins a new one")


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("--pid none", Exit.USAGE, "expected `machine`"),
        ("--pid 4194305", Exit.FAILED, "no such process"),
        ("--cgroup /no/such", Exit.FAILED, "no such control group"),
        ("--cpus 4000", Exit.FAILED, "no such CPU: 4000"),
        ("--cpus 3-1", Exit.USAGE, "expected `machine`"),
        ("1ms", Exit.USAGE, "at least 50ms"),
        ("soon", Exit.USAGE, "cuesta meters: INTERVAL"),
        ("record x abc", Exit.USAGE, "cuesta meters record: INTERVAL"),
        ("record missing/x 100ms", Exit.FAILED, "cuesta meters record FILE"),
        ("profile abc", Exit.USAGE, "cuesta meters profile: SECONDS"),
        ("profile 1s --fraction 2", Exit.USAGE, "at most 1, got 2"),
        ("1 -3", Exit.USAGE, "COUNT"),
        ("1 2 3", Exit.USAGE, "one argument too many: 3"),
        ("reprot", Exit.USAGE, "or a word, which stands first: rows, report, reset,"),
        ("1 --report", Exit.USAGE, "cuesta meters report: one argument too many: 1"),
        ("1 --since x", Exit.USAGE, "cuesta meters rows: no such flag: --since"),
        ("--reset --json x", Exit.USAGE, "cuesta meters reset: no such flag: --json"),
        ("report --sinc x", Exit.USAGE, "no such flag: --sinc; did you mean --since?"),
        ("profile 1 --plain", Exit.USAGE, "cuesta meters profile: no such flag: --plain"),
        ("--from box://9100", Exit.USAGE, "not a URL"),
        ("record", Exit.USAGE, "required: FILE"),
        ("--record", Exit.USAGE, "--record: expected one argument"),
        ("--from box:9100", Exit.USAGE, "expected a URL such as http://host:9100/metrics, got 'box:9100'"),
        ("--pid 1 --cpus 0", Exit.USAGE, "--cpus: not allowed with argument --pid"),
        ("--exact --report", Exit.USAGE, "cuesta meters report: no such flag: --exact"),
        ("--calls --reset", Exit.USAGE, "cuesta meters reset: no such flag: --calls"),
        ("--exact --from http://host.invalid:9100/metrics", Exit.USAGE, "a node_exporter does not trace"),
    ],
)
def test_impossible_subjects_and_flags_are_refused(cuesta: Cuesta, arguments: str, code: Exit, text: str) -> None:
    cuesta("meters", *arguments.split()).ends(code, text)


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


def test_a_process_that_ends_gives_reasons_and_no_failure(cuesta: Cuesta) -> None:
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as program:
        subject = ("--pid", str(program.pid), "--since", "kept")
        cuesta("meters", "--reset", *subject).ends()
        assert program.stdin
        program.stdin.close()
        program.wait(30)
    cuesta("meters", "--report", *subject).ends(Exit.FAILED, "no such process")


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
        text = " ".join([*meter_report["notes"], meter_report["by_cause"].get("why", "")])
        assert "perf_event_paranoid" in text or "CAP_PERFMON" in text, text


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
    with open(reader, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    result: dict[str, Any] = json.loads(text)
    return result
