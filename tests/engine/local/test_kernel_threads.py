"""CPU time of the kernel's threads, read from a made-up `/proc`."""

import json
from pathlib import Path

from cuesta.engine.local.kernel_threads import KernelThreads, cpu_times, record_kernel_threads
from cuesta.records.rows import KernelThreadsRow


def proc(here: Path, used: dict[int, int], comm: str = "kthreadd") -> Path:
    task = here / "2" / "task" / "2"
    task.mkdir(parents=True, exist_ok=True)
    (here / "2" / "comm").write_text(f"{comm}\n")
    (task / "children").write_text(" ".join(map(str, [*used, 9999])))  # a thread that has just ended
    for pid, ns in used.items():
        (here / str(pid)).mkdir(exist_ok=True)
        (here / str(pid) / "schedstat").write_text(f"{ns} 5 7\n")
    return here


def test_threads_are_read_and_ended_ones_are_left_out(here: Path) -> None:
    assert cpu_times(proc(here, {3: 100, 4: 200})) == {3: 100, 4: 200}


def test_in_a_container_there_are_none(here: Path) -> None:
    assert cpu_times(proc(here, {3: 100}, "sh")) == {}
    assert cpu_times(here / "nowhere") == {}


def test_cpu_time_since_the_start_is_added_up(here: Path) -> None:
    threads = KernelThreads(proc(here, {3: 1_000_000_000, 4: 5_000_000_000}))
    assert threads.read(1) == KernelThreadsRow(at=1, seconds=0.0)
    proc(here, {3: 1_250_000_000, 5: 500_000_000})  # one thread ended, one is new
    assert threads.read(2) == KernelThreadsRow(at=2, seconds=0.75)


def test_they_are_read_from_the_beginning_to_the_end_of_a_run(here: Path) -> None:
    run = here / "run"
    with record_kernel_threads(run, 3600.0, proc(here, {3: 100})):
        run.mkdir()
    rows = [json.loads(row) for row in (run / "kernel-threads.jsonl").read_text().splitlines()]
    assert len(rows) == 2
    assert rows[0]["at"] < rows[1]["at"]


def test_nothing_is_written_without_a_run(here: Path) -> None:
    with record_kernel_threads(here / "run", 3600.0, proc(here, {3: 100})):
        pass
    assert not (here / "run").exists()
