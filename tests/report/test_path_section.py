"""What reports tell of the paths of keys: first of all, hop by hop, and without any."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.capacity import find_bottleneck
from cuesta.analysis.capacity.bottleneck import add_path
from cuesta.analysis.capacity.evidence import gather_evidence
from cuesta.analysis.capacity.findings import Conflicting, OnTheLine
from cuesta.analysis.capacity.measured_step import order_by_load
from cuesta.analysis.compare.comparison import Terms, compare
from cuesta.analysis.compare.sides import read_side
from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.path import FollowedEcho, FollowedResponse
from cuesta.report import comparison
from cuesta.report.headline import headline
from cuesta.report.path_section import sections
from cuesta.report.plots.path import lay_out_map, plot_path
from cuesta.report.render.markdown import markdown
from cuesta.report.run_report import build_report, text
from tests.followed import Line, at_shell, hop, write_followed, write_lines, write_paths
from tests.report import made_up
from tests.run_folder import RunFolder, change_run, measured


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return summarise(made_up.followed(tmp_path_factory.mktemp("followed") / "run"))


def rows_of(shown: object) -> str:
    """A report's section on paths."""
    whole = str(shown)
    return whole[whole.index("PATH  ") : whole.index("THROUGHPUT")]


def test_the_headline_and_the_limit_tell_it_first(followed: Summary) -> None:
    assert "a key echoes in 5.24 ms (5.00 of it a timer in relay.py (epoll_wait))" in headline(followed)
    assert str(find_bottleneck(followed)) == (
        "what users wait for: of a response of 14.2 ms (p95), 9.00 are sshd waiting for a CPU that `make` has; 5.00 a "
        "timer in relay.py, pid 4711 (epoll_wait); what the host uses most is the CPU quota of the host (16.0 %)"
    )


def test_a_limit_that_is_known_stays_the_answer(followed: Summary) -> None:
    evidence = gather_evidence(followed, order_by_load(followed)[-1])
    assert evidence
    line = OnTheLine(0.3, 0.319, 30, is_exact=True, baud=1200)
    assert str(add_path(line, evidence)).startswith(f"{line}; of a response of 14.2 ms (p95), 9.00 are sshd")
    assert "CONFLICT" not in str(add_path(Conflicting("it is busy", ["the disks"]), evidence))
    quick = replace(evidence.measured.step, echo=FollowedEcho(), response=FollowedResponse())
    unexplained = replace(evidence, measured=replace(evidence.measured, step=quick))
    assert add_path(line, unexplained) is line


def test_the_first_screen_has_a_line_and_the_rest_is_hop_by_hop(followed: Summary, snapshot: SnapshotAssertion) -> None:
    brief, whole = (rows_of(text(followed, colour=False, verbose=verbose)) for verbose in (False, True))
    assert " ".join(brief.split()) == (
        "PATH 210 keys followed: at the host 5.21 ms (p95 46.5 ms), outside of it 30.0 µs"
    )
    assert whole == snapshot
    assert max(map(len, whole.splitlines())) <= 80


def test_markdown_has_it_too(followed: Summary) -> None:
    shown = markdown(build_report(followed))
    assert "| held by TCP | relay.py |" in shown


def test_a_run_without_followed_keys_has_no_section(tmp_path: Path) -> None:
    assert not list(sections(summarise(made_up.without_limits(tmp_path / "run")).last))


def test_keys_without_paths_are_told_by_their_reasons(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", measure=10).write()
    line = Line()
    for number in range(20):
        line.type(3 + number / 10, at_shell())
    write_followed(run, [line])
    shown = " ".join(rows_of(text(summarise(run), colour=False)).split())
    assert shown.startswith("PATH no followed key has a known path: ")
    assert "no host's tracer wrote a path (--meters exact)" in shown
    line.paths = [path | {"whole": False} for path in line.paths[:5]]
    write_lines(run, [line])
    shown = " ".join(rows_of(text(summarise(run), colour=False)).split())
    assert "keys without a path: nothing was seen of" in shown
    assert "the beginning was not seen of 5" in shown


def test_a_host_that_saw_no_key_is_told_with_the_reason(tmp_path: Path) -> None:
    run = change_run(RunFolder(tmp_path / "run", measure=10).write(), metered=["bastion", "farm"])
    line = Line()
    for number in range(20):
        line.type(3 + number / 10, at_shell())
    write_lines(run, [line])
    write_paths(run, [], "paths-farm.jsonl")
    shown = " ".join(rows_of(text(summarise(run), colour=False, verbose=True)).split())
    assert "farm: no followed key was seen there: its tracer knows connections by the driver's ports" in shown
    assert "bastion: no followed key" not in shown


def test_what_the_kernel_does_not_show_is_told(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", measure=10).write()
    line = Line()
    for number in range(20):
        line.type(3 + number / 10, at_shell())
    write_followed(run, [line])
    write_paths(run, [line], missing=["worker_queue: no tracepoint workqueue_queue_work"])
    shown = " ".join(rows_of(text(summarise(run), colour=False, verbose=True)).split())
    assert "not shown by this kernel: worker_queue: no tracepoint workqueue_queue_work" in shown
    assert "what following costs a key is not known" in shown


def test_the_plots_of_paths(followed: Summary) -> None:
    path = followed.last.echo.path
    assert path
    bands, slow, way = plot_path(path)
    (bars,) = (layer["data"]["values"] for layer in bands.spec["layer"])
    ends = [max(row["x2"] for row in bars if row["y"] == name) for name in {row["y"] for row in bars}]
    assert ends == [pytest.approx(100.0)] * 3
    assert path.slow_key
    (hops,) = (layer["data"]["values"] for layer in slow.spec["layer"])
    assert len({row["y"] for row in hops}) == len(path.slow_key.hops)
    boxes, ways = lay_out_map(path.chain)
    assert [box["name"] for box in boxes] == ["client", "sshd", "bash", "sshd", "relay.py", "client"]
    assert ways[-1]["lines"] == ["held by TCP 4.12 ms"]
    assert all(one["bottom"] <= other["top"] for one, other in pairwise(boxes))
    assert way.note == "mean times of the 210 keys that have this chain of tasks"


def write_run(folder: Path, wait: float, started: str) -> None:
    keys = {"transactions": 0, "keys": 5, "unfinished": 0, "oldest": 0.0}
    echoes = [("interactive/keys/echo", [0.001 + wait / 1e6] * 100)]
    run = RunFolder(folder, measure=10, responses=lambda *_: [], histograms=echoes, edit=measured(**keys)).write()
    (run / "run.json").write_text((run / "run.json").read_text().replace("2026-11-21T01:23:45Z", started))
    line = Line()
    for number in range(60):
        line.type(2.5 + number / 10, [*at_shell(run_queue=wait, other="make"), hop("on_cpu", "vim", wait / 100)])
    write_lines(run, [line])


def test_a_comparison_names_the_hop_that_got_slower(tmp_path: Path) -> None:
    for number in range(3):
        write_run(tmp_path / "base" / f"run-{number}", 100.0, f"2026-11-21T01:0{number}:00Z")
        write_run(tmp_path / "new" / f"run-{number}", 9000.0, f"2026-11-21T02:0{number}:00Z")
    compared = compare(read_side(tmp_path / "base"), read_side(tmp_path / "new"), Terms())
    assert str(compared.slower) == "sshd waiting for a CPU, from 103 µs to 9.00 ms a key"
    assert compared.quicker is None
    assert comparison.data(compared)["slower_hop"]["kind"] == "run_queue"
    shown = " ".join(str(comparison.text(compared, colour=False)).split())
    assert "what got slower most, in the mean: sshd waiting for a CPU, from 103 µs to 9.00 ms a key" in shown


def test_a_sweep_tells_what_grows_with_its_load(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", users=(4, 40), settle=2, measure=10).write()
    line = Line()
    for number in range(240):
        line.type(0.05 + number / 10, at_shell(run_queue=100.0 if number < 120 else 7000.0, other="make"))
    write_lines(run, [line])
    shown = " ".join(str(text(summarise(run), colour=False)).split())
    wanted = "of a key, what grows most from 4 users to 40 users: sshd waiting for a CPU, from 103 µs to 7.00 ms a key"
    assert wanted in shown
