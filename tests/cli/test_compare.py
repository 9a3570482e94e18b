"""The verb `compare`: real runs in pairs, refusals, and exit codes."""

import json
import math
import shlex
import signal
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.compare.verdict import least_change
from cuesta.engine.interleaved import Interleaved
from cuesta.engine.job import prepare, seconds_of_run
from cuesta.errors import Exit
from cuesta.plan import RawOptions, load
from cuesta.units import share
from cuesta.workflow.run_pairs import PlannedPairs, figures_to_test
from tests.analysis.test_representative import causes
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.meter_reports import meter_report
from tests.report.made_up import bad, good
from tests.run_folder import RunFolder, edit_run

CHECKOUT = Path(__file__).parents[2]
PLAN = (
    """
users = 4
stagger = "5ms"
settle = "100ms"
measure = "500ms"
line_speed = 0
think = "exp 50ms"
key_rate = 100
meters = "none"

[host]
delay = "DELAY"
"""
    + BUSY
)


def side(folder: Path, runs: int, response: float, **other: Any) -> Path:
    """Make runs that differ slightly, like real runs."""
    for number in range(runs):
        responses = [response * (1 + number / 200), response * (2 + number / 200)]
        made = RunFolder(folder / f"run-{number}", responses=lambda *_, each=responses: each, **other).write()
        with edit_run(made) as run:
            run["plan"]["meters"] = "none"
            run["started"] = f"2026-11-21T{len(folder.name):02}:{number:02}:00Z"
    return folder


@pytest.mark.parametrize(
    ("response", "verdict", "code"),
    [
        (0.1, "no change beyond the margin", Exit.GOOD),
        (0.2, "changed", Exit.CHANGED),
        (0.105, "inconclusive", Exit.INCONCLUSIVE),
    ],
)
def test_each_verdict_has_its_exit_code(here: Path, cuesta: Cuesta, response: float, verdict: str, code: Exit) -> None:
    sides = side(here / "base", 5, 0.1), side(here / "new", 5, response)
    assert cuesta("compare", *sides, "--json", "-").ends(code).json["verdict"] == verdict


TYPING = """
Set KeyRate 5cps
Set Echo timed
Set Prompt /\\$ $/
Wait+Prompt
Forever
  Transaction "row"
    Type "typing"
    Enter
    Wait+Prompt
  End
  Think 50ms
End
"""


@pytest.mark.nightly
def test_slower_typing_is_a_change(here: Path, write: Write, cuesta: Cuesta) -> None:
    """A program echoes printable keys after 20 ms, then after 150 ms; its answers arrive at once in both cases.

    Both are far below the gap between two keys, so that keys do not queue where the machine stalls.
    """
    write("typing.tape", TYPING)
    for name, seconds in (("a", 0.020), ("b", 0.150)):
        program = f"{sys.executable} -m tests.hosts.slow_keys --log {here / name} --seconds {seconds}"
        plan = f'tape = "typing.tape"\ntarget = "pty:env PYTHONPATH={CHECKOUT} {program}"\n'
        timing = 'users = 3\nstagger = "0s"\nsettle = "1s"\nmeasure = "6s"\nmeters = "none"\n'
        write(f"{name}.toml", plan + timing + BUSY)
    document = cuesta("compare", "--interleave", "a.toml", "b.toml", "--out", "out", "--quiet", "--json", "-").json
    assert document["verdict"] == "changed", document["headline"]
    figures = {each["metric"]: each for each in (*document["headline"], *document["exploratory"])}
    assert figures["echo.p95"]["verdict"] == "slower"
    # What a busy machine adds to each echo is in both sides.
    slower = statistics.median(figures["echo.p50"]["new"]) - statistics.median(figures["echo.p50"]["base"])
    assert slower == pytest.approx(own_echo(here / "b") - own_echo(here / "a"), rel=0.05)
    assert "echo p95: slower, " in cuesta("compare", "out").ends(Exit.CHANGED).out


def own_echo(log: Path) -> float:
    """The median time from a key to its echo in seconds, by the host's own log."""
    rows = [json.loads(row) for row in log.read_text().splitlines()]
    read = dict[int, int]()
    took = list[float]()
    for row in rows:
        if row["did"] == "echo" and row["bytes"] != "\r\n":
            took.append((row["since"] - read[row["pid"]]) / 1e9)
        read[row["pid"]] = row["at"]
    return statistics.median(took)


def test_unlike_runs_are_refused_unless_despite_is_given(here: Path, cuesta: Cuesta) -> None:
    unlike = "compare", side(here / "base", 5, 0.1), side(here / "new", 5, 0.1, users=(8,))
    refused = cuesta(*unlike, "--json", "-").ends(Exit.REFUSED).json
    assert refused["refused"] == ["population: users 4 against 8"]
    despite = ("--despite", "we wanted to know")
    document = cuesta(*unlike, *despite, "--json", "-").ends().json
    assert document["despite"] == "we wanted to know"
    assert document["unlike"] == [{"kind": "population", "name": "users", "base": 4, "new": 8}]
    assert "“we wanted to know”" in cuesta(*unlike, *despite).ends().out


def test_invalid_runs_are_refused_with_the_reason(here: Path, cuesta: Cuesta) -> None:
    document = cuesta("compare", bad(here / "base"), good(here / "new"), "--json", "-").ends(Exit.REFUSED).json
    assert "cannot be used: INVALID" in document["refused"][0]


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("one", Exit.BAD_INPUT, "holds no pairs"),
        ("one none", Exit.BAD_INPUT, "no such folder"),
        ("", Exit.USAGE, "two folders"),
        ("one one one", Exit.USAGE, "two folders"),
        ("one one --margin 0.05", Exit.USAGE, "--margin 5%"),
        ("one one --margin 0%", Exit.USAGE, "--margin 5%"),
        ("one one --step 0", Exit.USAGE, "number from 1"),
        ("one one --despite ' '", Exit.USAGE, "expected a reason"),
        ("one one --compensation demand=2", Exit.USAGE, "--despite REASON"),
        ("one one --despite x --compensation deman=2", Exit.USAGE, "did you mean `demand`"),
        ("one one --despite x --compensation demand=0", Exit.USAGE, "demand=0.97"),
        ("one one --pairs 8", Exit.USAGE, "--interleave"),
        ("--interleave a.toml a.toml --pairs 6", Exit.USAGE, "from 7 to 500"),
        ("--interleave metered.toml metered.toml --pairs 7", Exit.USAGE, "from 8 to 500"),
        ("one --interleave a.toml a.toml", Exit.USAGE, "which makes them"),
        ("--interleave a.toml b.toml", Exit.REFUSED, "population: users 4 against 5"),
        ("--interleave a.toml none.toml", Exit.BAD_INPUT, "none.toml"),
        ("one --profile none.profile --margin 3%", Exit.USAGE, "--margin: not with --profile"),
        ("one --profile none.profile --pairs 9", Exit.USAGE, "--pairs: not with --profile"),
        ("one --profile none.profile", Exit.BAD_INPUT, "--record service.profile"),
    ],
)
def test_impossible_requests_are_refused_before_anything_runs(
    here: Path, write: Write, cuesta: Cuesta, arguments: str, code: Exit, text: str
) -> None:
    good(here / "one")
    write("a.toml", PLAN.replace("DELAY", "0ms"))
    write("b.toml", PLAN.replace("DELAY", "0ms").replace("users = 4", "users = 5"))
    write("metered.toml", PLAN.replace("DELAY", "0ms").replace('meters = "none"', ""))
    cuesta("compare", *shlex.split(arguments)).ends(code, text)
    assert not (here / "runs").exists()


def test_the_detectable_change_is_printed_before_the_first_pair(here: Path, write: Write) -> None:
    """The tapes of this plan time two classes of transactions in one group, and keys in both groups."""
    write("short.tape", 'Set Echo timed\nTransaction "ask"\nType "x"\nEnter\nWait+Bytes 1\nEnd\n')
    write("long.tape", 'Set Echo screen\nTransaction "find"\nType "y"\nEnter\nWait+Bytes 1\nEnd\n')
    group = '[[group]]\nname = "{0}"\ntape = "{0}.tape"\ntarget = "tcp://127.0.0.1:1"\nusers = 1\n'
    plan = write("plan.toml", 'settle = "0s"\nmeasure = "1s"\n' + group.format("short") + group.format("long"))
    options = RawOptions(plan=plan)
    job = prepare(load(options, here))
    figures = figures_to_test(job)
    responses = ["response p95 of short: ask", "response p95 of long: find"]
    assert figures == ["CPU per transaction", "transactions/s", *responses, "echo p95 of short", "echo p95 of long"]
    series = Interleaved(options, options, here, pairs=8)
    text = "\n".join(PlannedPairs(series, (job, job), figures, 0.05).announcement())
    assert f"8 pairs, 16 runs: about {16 * seconds_of_run(job):.0f} s" in text
    least = least_change(8, 0.03, in_pairs=True, alpha=0.05 / 6)
    assert least
    assert f"differ by 3 % (standard deviation): a change of {share(math.expm1(least))}; " in text
    assert least > 0.03, "8 pairs that differ so much cannot find 3 %"


@pytest.mark.parametrize(
    ("tape", "responses"),
    [
        ("Enter\nWait+Bytes 1\n", ["response p95"]),
        ('Transaction "a"\nEnter\nWait+Bytes 1\nEnd\n', ["response p95"]),
        (
            'Transaction "a"\nEnter\nWait+Bytes 1\nEnd\nRepeat 2\nWait+Bytes 1\nEnter\nEnd\n',
            ["response p95 of users: a", "response p95 of users: ask"],
        ),
    ],
)
def test_answers_outside_of_transactions_are_tested_as_those_within(
    tape: str, responses: list[str], here: Path, write: Write
) -> None:
    write("ask.tape", tape)
    plan = write("plan.toml", 'tape = "ask.tape"\ntarget = "tcp://127.0.0.1:1"\n')
    figures = figures_to_test(prepare(load(RawOptions(plan=plan), here)))
    assert figures == ["CPU per transaction", "transactions/s", *responses]


def test_a_run_is_held_against_a_service(here: Path, cuesta: Cuesta) -> None:
    about = {"format": 1, "recorded": "2026-11-21T08:00:00Z", "machine": {}}
    of_service = meter_report(part=False, by_cause=causes(user=20.0, page_faults=10.0))
    (here / "service.profile").write_text(json.dumps({**about, "sheet": of_service}))
    run = good(here / "run")
    compare = ("compare", "--profile", "service.profile", run, "--json", "-")
    document = cuesta(*compare).ends().json
    assert document["represents"] is True
    assert document["missing"]["CPU time by cause"] == "of the run: the sampler is not on"
    rows = [json.loads(row) for row in (run / "meters.jsonl").read_text().splitlines()]
    rows[-1]["sheet"]["by_cause"] = causes(user=12.0)
    (run / "meters.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    document = cuesta(*compare).ends(Exit.CHANGED).json
    assert document["represents"] is False
    assert document["unexercised"] == ["page faults: 33.3 % of the service's CPU time, 0.0 % here"]
    unmetered = RunFolder(here / "unmetered").write()
    refused = cuesta("compare", "--profile", "service.profile", unmetered)
    refused.ends(Exit.REFUSED, "no report of its host's meters")


def test_interrupted_pairs_are_compared(here: Path, write: Write, cuesta: Cuesta) -> None:
    """Interrupted in the second pair: the complete pair is compared, and can be compared again."""
    plans = [write(f"{name}.toml", PLAN.replace("DELAY", delay)) for name, delay in (("a", "1ms"), ("b", "30ms"))]
    command = [sys.executable, "-m", "cuesta", "compare", "--interleave", *map(str, plans), "--out", "out"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for row in process.stderr:
                if row.startswith("pair 2 of 8: new"):
                    break
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == Exit.INTERRUPTED
    assert "what was measured is kept" in err
    assert "pair 2, new, is not used: it was interrupted" in err
    assert "Traceback" not in err
    assert "host.delay  1ms → 30ms" in out
    assert "more pairs would decide" in " ".join(out.split())
    rows = [json.loads(row) for row in (here / "out" / "pairs.jsonl").read_text().splitlines()]
    assert [row["pair"] for row in rows] == [1]
    seeds = [json.loads((here / "out" / rows[0][name] / "run.json").read_text())["seed"] for name in ("base", "new")]
    assert seeds[0] == seeds[1]
    cuesta("compare", "out").ends(Exit.INCONCLUSIVE)
