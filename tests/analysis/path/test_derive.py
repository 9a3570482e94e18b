"""The figures of paths in a run folder with known keys."""

from pathlib import Path

import pytest

from cuesta.analysis.path.composition import describe_times
from cuesta.analysis.path.followed_key import KINDS
from cuesta.analysis.summary import summarise
from cuesta.figures import BY_NAME
from cuesta.figures.path import EchoPath
from tests.followed import Line, at_shell, hop, write_followed, write_lines, write_paths
from tests.run_folder import RunFolder, change_run

HELD = hop("held", "", 40_000.0, why="nagle")
KEYS = 200


def type_at_shell(line: Line, keys: int = KEYS, slow: int = 10) -> Line:
    """Type keys of which every tenth is held back, in the measurement."""
    for number in range(keys):
        hops = at_shell(run_queue=5.0 + number, other="make")
        line.type(2.5 + number / 20, [*hops[:-1], HELD] if number % slow == 0 else hops)
    return line


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return RunFolder(tmp_path / "run", measure=20).write()


def path_of(run: Path) -> EchoPath:
    path = summarise(run).last.echo.path
    assert path
    return path


def test_the_figures_of_known_keys(run: Path) -> None:
    write_lines(run, [type_at_shell(Line())])
    path = path_of(run)
    assert path.keys + path.control == KEYS
    assert 15 <= path.control <= 35
    assert (path.missing, dict(path.missing_for), path.coalesced, path.several, path.lost) == (0, {}, 0, 0, 0)
    assert path.held.p50 == 0
    assert path.held.p95 == path.held.max == 0.040
    assert path.outside.p50 == path.outside.max == 30e-6
    assert path.unclosed.max == 0
    assert path.disk.max == 0  # it was not met: that is known
    run_queue, on_cpu = path.run_queue.mean or 0, path.on_cpu.p50
    assert run_queue == pytest.approx(5e-6 + KEYS / 2 * 1e-6 + 8e-6, rel=0.05)
    assert on_cpu == pytest.approx(98e-6)
    assert path.host.max == pytest.approx(0.0403, rel=0.01)


def test_figures_are_found_by_their_names(run: Path) -> None:
    change_run(run, plan={"limits": ["echo.path.held.p95 < 1ms", "echo.path.outside.max < 1ms", "echo.path.keys > 9"]})
    write_lines(run, [type_at_shell(Line())])
    summary = summarise(run)
    assert [limit.ok for limit in summary.last.limits] == [False, True, True]
    assert BY_NAME["echo.path.held.p95"].take_from(summary.last) == 0.040
    assert summary.json()["echo"]["path"]["held"]["p95"] == 0.040
    assert BY_NAME["echo.path.held.p95"].column == "echo_path_held_p95"


def test_without_paths_nothing_is_zero(run: Path) -> None:
    assert summarise(run).last.echo.path is None
    write_followed(run, [type_at_shell(Line())])
    path = path_of(run)
    assert (path.keys, path.host.p50, path.held.mean, path.price, path.chain, path.slow_key) == (
        0,
        *[None] * 3,
        [],
        None,
    )
    assert path.missing_for == {"no_path": KEYS - path.control}
    change_run(run, plan={"limits": ["echo.path.held.p95 < 1ms"]})
    (limit,) = summarise(run).last.limits
    assert (limit.ok, limit.value) == (False, None)


def test_a_kind_that_the_kernel_does_not_show_is_not_known(run: Path) -> None:
    lines = [type_at_shell(Line())]
    missing = [
        "sent, held: how long TCP held an echo back counts as network (this kernel has no tracepoint …)",
        "no path: of a login (this kernel has no tracepoint …)",
    ]
    write_followed(run, lines)
    write_paths(run, lines, missing=missing)
    path = path_of(run)
    unknown = {kind for kind in KINDS if getattr(path, kind).mean is None}
    assert unknown == {"sent", "held"}
    assert path.not_shown == missing


def test_the_usual_chain_is_that_of_most_keys(run: Path) -> None:
    write_lines(run, [type_at_shell(Line())])
    path = path_of(run)
    assert [(hop.kind, hop.task) for hop in path.chain] == [
        ("network_stack", ""),
        ("run_queue", "sshd"),
        ("on_cpu", "sshd"),
        ("worker_queue", "kworker"),
        ("on_cpu", "kworker"),
        ("run_queue", "bash"),
        ("on_cpu", "bash"),
        ("worker_queue", "kworker"),
        ("on_cpu", "kworker"),
        ("run_queue", "sshd"),
        ("on_cpu", "sshd"),
        ("held", "sshd"),
        ("sent", "sshd"),
    ]
    assert path.chain_keys == path.keys
    assert sum(hop.share for hop in path.chain) == pytest.approx(1.0)
    (held,) = (hop for hop in path.chain if hop.kind == "held")
    assert (held.p50, held.p95) == (0.0, 0.040)


def test_bands_tell_what_makes_slow_keys_slow(run: Path) -> None:
    write_lines(run, [type_at_shell(Line())])
    median, _, slow, slowest = path_of(run).bands
    assert [part.kind for part in median.parts[:2]] in (["run_queue", "on_cpu"], ["on_cpu", "run_queue"])
    assert (slow.parts[0].kind, slow.parts[0].task, slow.parts[0].pid, slow.parts[0].why) == (
        "held",
        "sshd",
        271,
        "nagle",
    )
    assert slowest.parts[0].share > 0.95
    for band in (median, slow, slowest):
        assert sum(part.seconds for part in band.parts) == pytest.approx(band.seconds)
    (waited,) = (part for part in median.parts if (part.kind, part.task) == ("run_queue", "sshd"))
    assert waited.other == "make"


def test_one_slow_key_is_kept_hop_by_hop(run: Path) -> None:
    write_lines(run, [type_at_shell(Line(user=3))])
    slow = path_of(run).slow_key
    assert slow
    assert slow.user == 3
    assert slow.hops[-1].kind == "held"
    begins = [each.begin or 0.0 for each in slow.hops]
    assert begins == sorted(begins)
    assert begins[-1] + slow.hops[-1].seconds == pytest.approx(slow.seconds - 30e-6)


def test_a_step_has_the_keys_of_its_measurement(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", users=(4, 8), settle=2, measure=6).write()
    write_lines(run, [type_at_shell(Line(), slow=1000)])  # from 2.5 s to 12.5 s, and the second settles until 10 s
    summary = summarise(run)
    known = [step.echo.path and step.echo.path.keys + step.echo.path.control for step in summary.steps]
    assert known == [110, 50]


def test_groups_apart_count_only_if_no_others_were_followed(run: Path) -> None:
    plan = (run / "run.json").read_text()
    background = '{"name": "others", "background": true, "load": "closed", "target": "host:", "users": 2}'
    (run / "run.json").write_text(plan.replace('"group": [', f'"group": [{background}, '))
    load, others = type_at_shell(Line()), type_at_shell(Line(20_001, user=9, group="others"), keys=80)
    write_lines(run, [load, others])
    path = path_of(run)
    assert path.keys + path.control == KEYS
    write_lines(run, [others])
    path = path_of(run)
    assert path.keys + path.control == 80


def test_each_of_two_hosts_shows_its_part(run: Path) -> None:
    change_run(run, metered=["bastion", "farm"])
    bastion, farm = Line(), Line()
    for number in range(40):
        bastion.type(3 + number / 20, at_shell())
        farm.type(3 + number / 20, [hop("on_cpu", "vim", 60.0)])
    write_followed(run, [bastion])
    write_paths(run, [bastion])
    write_paths(run, [farm], "paths-farm.jsonl")
    path = path_of(run)
    assert path.hosts
    assert list(path.hosts) == ["bastion", "farm"]
    assert path.host == path.hosts["bastion"].host
    assert path.hosts["farm"].host.p50 == 60e-6


def test_answers_and_logins_have_figures_of_their_own(run: Path) -> None:
    line = Line()
    for number in range(30):
        line.type(3 + number / 20, at_shell(), what="answer")
    write_lines(run, [line])
    step = summarise(run).last
    assert step.echo.path is None
    assert step.response.path
    assert step.response.path.on_cpu.mean == pytest.approx(98e-6)
    assert step.login_path is None


def test_quantiles_are_values_that_were_measured() -> None:
    times = describe_times(range(1, 101))
    assert [times.p50, times.p90, times.p95, times.p99, times.max] == [50e-9, 90e-9, 95e-9, 99e-9, 100e-9]
    assert describe_times([7]).p99 == 7e-9
