"""Rows of run folders: think times that differ by chance are one, those that were configured apart are not."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources import Kind, Resource
from cuesta.analysis.models.network import Network, Station
from cuesta.analysis.predict.from_runs import read_runs
from cuesta.analysis.predict.points import Point
from cuesta.cli import main
from cuesta.errors import Exit
from tests.analysis.capacity.simulated import Load, write
from tests.analysis.solved import solve
from tests.run_folder import Row, RunFolder, edit_run, rows

TYPISTS = Network([Station("echo", 0.004)], think=0.196)
POPULATIONS = (2, 8, 16, 30, 40)


def sweep(path: Path, *thinks: float, edit: Callable[[Row], Row] = lambda row: row) -> Path:
    """A short sweep of users who were told to think so long: by their number, or as often as there are think times."""
    loads = [Load(users=users, think=think) for think in thinks for users in POPULATIONS]
    folder = write(path, loads, seconds=10, edit=edit)
    with edit_run(folder) as run:
        for step, load in zip(run["steps"], loads, strict=True):
            step["group"][0]["think"] = f"exp {load.think:g}s"
            if len(thinks) > 1:
                step["swept"]["think"] = f"exp {load.think:g}s"
    return folder


def own_times(points: list[Point]) -> set[float]:
    return {round(point.at.own_time, 9) for point in points}


def test_one_think_time_was_configured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In 10 s the steps think 0.8 to 1.2 s in the mean."""
    folder = sweep(tmp_path / "sweep", 1.0)
    (think,) = own_times(list(read_runs([folder]).points))
    assert think == pytest.approx(1.0, rel=0.05)
    flags = ["--users", "1e6", "--servers", "2", "--limit", "response.mean < 2s", "--margin", "15%"]
    assert main(["predict", str(folder), *flags]) == Exit.GOOD
    assert capsys.readouterr().out.count("LIMIT      response.mean < 2s: ") == 1


def typing(path: Path, users: Sequence[int]) -> Path:
    """A sweep of a tape that only types: at a host with one server, which takes 4 ms for a key's echo."""
    solved = {n: solve(TYPISTS, n) for n in users}
    folder = RunFolder(
        path,
        users=users,
        responses=lambda *_: [],
        edit=lambda row: {**row, "keys": round(solved[row["users"]].throughput), "unfinished": 0},
    )
    folder.write()
    with (path / "agent-0" / "histograms.hlog").open("a") as log:
        for step, n in enumerate(users):
            begin = step * (folder.settle + folder.measure) + folder.settle
            series = [(f"interactive/keys/{name}", [solved[n].response] * 10) for name in ("echo", "echo_from_sent")]
            log.writelines(rows(step, begin, series))
    return path


def test_echoes_of_keys_are_no_responses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A tape that only types: a limit is on the echo."""
    folder = typing(tmp_path / "sweep", (10, 20, 30, 40, 60))
    assert {point.at.unit.name for point in read_runs([folder]).points} == {"keys"}
    assert main(["predict", str(folder), "--limit", "response.mean < 1s"]) == Exit.REFUSED
    assert "the rows have echo times, and no response" in " ".join(capsys.readouterr().err.split())
    assert main(["predict", str(folder), "--limit", "echo.mean < 100ms", "--json", "-"]) == Exit.GOOD
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    allowed = system["capacity"][0]["allowed"]["value"]
    assert solve(TYPISTS, round(allowed)).response == pytest.approx(0.1, rel=0.1)


def test_keys_come_as_fast_as_they_were_typed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each user types 5 keys a second, of which the echo takes a little: the rest of that time is the user's own."""
    folder = typing(tmp_path / "sweep", (2, 5, 10, 20))
    assert list(own_times(list(read_runs([folder]).points))) == [pytest.approx(TYPISTS.think, rel=0.01)]
    assert main(["predict", str(folder), "--json", "-"]) == Exit.GOOD
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    rates = [figure["throughput"]["value"] for figure in system["figures"]]
    assert rates == pytest.approx([10, 25, 50, 100], rel=0.02)


def test_a_wait_that_failed_in_each_step_hides_no_think_time(tmp_path: Path) -> None:
    folders = [sweep(tmp_path / "good", 1.0), sweep(tmp_path / "bad", 1.0, edit=with_a_timeout)]
    good, bad = (list(read_runs([folder]).points) for folder in folders)
    assert len(bad) == len(POPULATIONS)
    assert own_times(bad) == own_times(good)


def test_a_step_of_which_too_little_was_answered_is_no_point(tmp_path: Path) -> None:
    folder = sweep(tmp_path / "sweep", 1.0, edit=lambda row: row | {"unanswered": int(row["step"] == 1)})
    found = read_runs([folder])
    assert len(found.points) == len(POPULATIONS) - 1
    assert found.notes == [
        "step 2 is left out: 11.0 % of its transactions were not answered, so that its mean response is not known"
    ]


def with_a_timeout(row: Row) -> Row:
    """One in each step of 12 s."""
    return row | {"errors": {"timeout": 1}} if int(row["start"]) % 12 == 5 else row


def test_users_who_think_0_s_have_thought_no_less(tmp_path: Path) -> None:
    """In a step that takes back a little of what the one before it counted."""
    folder = sweep(tmp_path / "sweep", 0.0, edit=lambda row: {**row, "sums": {**row["sums"], "think": -6e-7}})
    assert {point.at.think for point in read_runs([folder]).points} == {0.0}
    assert main(["report", str(folder)]) == Exit.GOOD


@pytest.mark.parametrize(
    ("name", "kind", "servers"),
    [("the CPU quota of the host", Kind.CPU, 1.5), ("the network interface eth0", Kind.NETWORK, 1.0)],
)
def test_the_meter_of_what_limits_the_host_is_used(
    name: str,
    kind: Kind,
    servers: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside that of four CPUs, which are never busy by more than two fifths."""

    def metered(measured: MeasuredStep) -> list[Resource]:
        rate = measured.work.per_s if measured.work else 0.0
        return [
            resource("CPU of the host", Kind.CPU, 4.0, 0.075, rate),
            resource(name, kind, servers, 0.048 * servers, rate),
        ]

    monkeypatch.setattr("cuesta.analysis.predict.from_runs.read_resources", metered)
    main(["predict", str(sweep(tmp_path / "sweep", 1.0)), "--json", "-"])
    found = json.loads(capsys.readouterr().out)
    assert name in {each["by"] for each in found["systems"][0]["saturation"]}
    assert not found["conflict"]


def resource(name: str, kind: Kind, servers: float, demand: float, rate: float) -> Resource:
    return Resource(name, kind, demand * rate / servers, "", servers=servers, demand=demand)


def test_a_load_that_was_repeated_is_one_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in a search, whose trials confirm its limit. What was measured is the mean of all of them."""
    folder = RunFolder(
        tmp_path / "sweep", users=(4, 8, 8, 8, 16), responses=lambda step, *_: [0.1 + 0.01 * step] * 2
    ).write()
    main(["predict", str(folder), "--json", "-"])
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert system["rows"] == 5
    assert [figure["users"] for figure in system["figures"]] == [4, 8, 16]
    assert system["figures"][1]["observed"]["response"] == pytest.approx(0.119, abs=1e-3)
    assert system["figures"][1]["observed"]["place"].count(", step ") == 3


def test_the_mean_is_of_all_transactions(tmp_path: Path) -> None:
    folders = [sweep(tmp_path / name, 1.0) for name in "ab"]
    rows = [json.loads(row) for row in (folders[0] / "agent-0" / "series.jsonl").read_text().splitlines()]
    measured = [row for row in rows if row["phase"] == "measure"]
    mean = sum(row["sums"]["think"] for row in measured) / sum(row["transactions"] for row in measured)
    assert list(own_times(list(read_runs(folders[:1]).points))) == [pytest.approx(mean)]
    assert list(own_times(list(read_runs(folders).points))) == [pytest.approx(mean)]


def test_think_times_that_were_configured_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = sweep(tmp_path / "sweep", 1.0, 3.0)
    assert sorted(own_times(list(read_runs([folder]).points))) == pytest.approx([1.0, 3.0], rel=0.05)
    main(["predict", str(folder), "--fit", "think=1s", "--at", "users=2", "--json", "-"])
    (system,) = json.loads(capsys.readouterr().out)["systems"]
    assert system["rows"] == len(POPULATIONS), "rows are found by the configured think time"
    assert main(["predict", str(folder), "--users", "60"]) == Exit.USAGE
    assert "expected think, for the rows differ in it" in " ".join(capsys.readouterr().err.split())
    assert main(["predict", str(folder), "--at", "users=2", "--limit", "response.mean < 2s"]) == Exit.GOOD
    assert capsys.readouterr().out.count("(Z+K ") == 2
