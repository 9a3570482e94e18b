"""A run on an engine whose agents share neither clock nor folder with it, beside the same run on this machine."""

import json
import re
from bisect import bisect_right
from itertools import accumulate
from pathlib import Path
from threading import Event

import cuesta
from cuesta._native import Histogram
from cuesta.engine.console import Console
from cuesta.engine.job import Job, prepare
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import run_job
from cuesta.engine.search import NextTrial, SearchJob, search
from cuesta.ledger import Recorded, open_run
from cuesta.ledger.transactions import read_transactions
from cuesta.plan import RawOptions, load
from cuesta.plan.sweep import at_load
from cuesta.records.observation import Observation
from tests.busy import BUSY
from tests.conftest import Write
from tests.engine.due_times import due_after_start
from tests.engine.namespaces import NamespaceEngine

GRID = 100_000_000
"""Nanoseconds: users who met go on at a multiple of it from the start of the run."""
ROW = """
  Transaction "row"
    Type "abc"
    Enter
    Wait+Bytes 20
  End
"""
PACED = f"Set KeyRate 20cps\n{ROW}"
MEETING = f"""
Set TypingSpeed 0ms
Barrier "all are in"
Forever
{ROW}
  Think 210ms
  Barrier "all have thought"
End
"""
PLAN = (
    """
tape = "row.tape"
users = 5
agents = 2
stagger = "90ms"
settle = "1500ms"
measure = "2s"
line_speed = 0
log_transactions = true
meters = "plain"
[host]
service = "transaction 20"
"""
    + BUSY
)


def prepared(write: Write, here: Path, tape: str, **flags: str) -> Job:
    write("row.tape", tape)
    return prepare(load(RawOptions(plan=write("plan.toml", PLAN), flags=flags), here))


def run(job: Job, folder: Path, engine: Engine) -> Recorded:
    result = run_job(job, folder, Console(), engine)
    assert not result.failures
    return open_run(folder)


def first_readings(recorded: Recorded, engine: NamespaceEngine) -> list[tuple[int, int]]:
    """For each agent by how much the engine misread its clock, and by how much at most it said it did; ns."""
    rows = [json.loads(row) for row in (recorded.folder / "agents.jsonl").read_text().splitlines()]
    first = {row["agent"]: row for row in reversed(rows)}
    return [(first[at]["offset"] - node.ahead, first[at]["error"]) for at, node in enumerate(engine.reserved.nodes)]


def test_histograms_of_agents_merge_exactly_wherever_they_are(here: Path, write: Write) -> None:
    """They hold what the logs of all agents hold, by three digits."""
    recorded = run(prepared(write, here, PACED, load="paced:300ms"), here / "out", NamespaceEngine(here))
    merged = Histogram.sum([row.histogram for row in recorded.histogram_rows() if row.tag.series == "response"])
    logged = sorted(row.done - row.due for row in read_transactions(recorded))
    assert merged
    assert merged.count == len(logged) > 20
    counts = accumulate(count for _, count in merged.buckets())
    for (edge, _), count in zip(merged.buckets(), counts, strict=True):
        assert bisect_right(logged, edge + 1e-9) == count

    end = max(step.end for step in recorded.steps.values())
    assert recorded.host
    assert all(abs(row.end) < 1000 for row in recorded.host), "the host's clock is the engine's"
    assert recorded.metered.ends[0] >= end, "and so is the meters'"


def test_barriers_open_at_one_instant_within_the_bounds_of_the_clocks(here: Path, write: Write) -> None:
    engine = NamespaceEngine(here)
    recorded = run(prepared(write, here, MEETING), here / "out", engine)
    due = due_after_start(recorded)
    assert len(due[0]) >= 3
    assert all(instants[: len(due[0])] == due[0][: len(instants)] for instants in due.values())
    assert all(instant % GRID == 0 for instant in due[0])
    (late, late_bound), (later, later_bound) = first_readings(recorded, engine)
    assert abs(late - later) <= late_bound + later_bound, "in true time"


def test_a_search_announces_instants_on_each_clock_and_reads_records_as_they_are_made(here: Path, write: Write) -> None:
    job = prepared(write, here, PACED, load="paced:300ms", settle="1s", users="6")
    loads, seen = [6.0, 2.0], list[int]()

    def choose(folder: Path) -> NextTrial | None:
        seen.append(len(open_run(folder).steps) if loads != [6.0, 2.0] else 0)
        return NextTrial(at_load(job.plan.settings, loads.pop(0)), {}) if loads else None

    most = job.plan.steps[0]
    engine = NamespaceEngine(here)
    found = search(SearchJob(job, most, {}), here / "out", choose, Console(), engine)
    assert not found.failures
    assert seen == [0, 1, 2]
    recorded = open_run(found.folder)
    first, second = recorded.agents
    assert first.steps == second.steps, "each agent measures from and to the same instants"
    measured = [row for agent in recorded.agents for row in agent.intervals if row.measured]
    assert {(row.step, row.users) for row in measured} == {(0, 3), (1, 1)}, "of each agent"


def test_a_dead_agent_ends_the_run_and_its_records_are_fetched_as_far_as_they_got(here: Path, write: Write) -> None:
    engine, killed = NamespaceEngine(here), Event()
    write("sourced.tape", PACED)
    write("row.tape", "Source sourced.tape")  # no node has these files

    def kill_one(seen: Observation) -> None:
        is_measuring = seen.snapshots and all(each.phase == "measure" and each.seconds > 3 for each in seen.snapshots)
        if is_measuring and not killed.is_set():
            engine.reserved.agents[1].kill()
            killed.set()

    plan = write("plan.toml", PLAN)
    run = cuesta.run(plan, here=here, observer=kill_one, engine=engine, load="paced:300ms", measure=500)
    assert run.failures == ["agent 1 on 198.19.1.2: it was killed by signal 9"]
    first, *others = run.doubts
    died = r"agent 1 on 198\.19\.1\.2 was killed by signal 9 after \d+ s; what it had recorded is kept; .*"
    assert re.fullmatch(died, first)
    assert not any("cut off" in other for other in others)
    assert [any(row.transactions for row in agent.intervals) for agent in run.summary.recorded.agents] == [True, True]
