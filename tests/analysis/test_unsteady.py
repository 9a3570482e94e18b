"""Steps without a steady state: what a summary and a report say of them."""

from collections.abc import Callable, Sequence
from pathlib import Path

from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.step import Overload
from cuesta.report import several
from cuesta.report.headline import headline
from cuesta.report.limits import describe_limit_value
from cuesta.report.run_report import text
from tests.run_folder import Row, RunFolder, arrivals


def passes(done: int, due: int) -> Callable[[Row], Row]:
    """Of each second's passes these many ended and became due; their users typed and thought for half of their time."""

    def row(of: Row) -> Row:
        until = round(of["start"]) - 1
        counts = arrivals(due * until, done=done * until, under_way=(due - done) * until)
        account = counts if of["phase"] == "measure" else None
        return of | {"passes": done, "due": account, "sums": of["sums"] | {"think": 1.0, "keying": 1.0}}

    return row


def overloaded(path: Path, limits: Sequence[str] = ()) -> Summary:
    """A host that does two passes a second of the four that are due, in ever longer times."""

    def longer(_: int, __: int, second: int) -> list[float]:
        return [0.1 + 0.5 * second] * 2

    made = RunFolder(path, load="open:4/s", responses=longer, edit=passes(2, 4), limits=limits)
    return summarise(made.write())


def doubts(summary: Summary) -> list[str]:
    return [each.doubt.name for each in summary.doubts]


WHY = "no steady state, overloaded: 4.00 passes/s were due and 2.00/s ended; the backlog grows by 2.00/s"


def test_an_overloaded_open_load_is_said_instead_of_its_percentiles(tmp_path: Path) -> None:
    summary = overloaded(tmp_path / "run")
    assert doubts(summary) == ["overloaded"]
    assert summary.last.settled.overload == Overload(4.0, 2.0, 2.0)
    assert headline(summary).endswith(f"{WHY}; INVALID: do not rely on these figures; no limit was set")
    assert summary.json()["settled"]["steady"] is False
    assert WHY in summary.json()["limited_by"]


def test_limits_on_durations_of_an_overloaded_step_are_never_kept(tmp_path: Path) -> None:
    limits = ("response.p95 < 60s", "response.p50 < 1s", "transactions.per_s > 1")
    summary = overloaded(tmp_path / "run", limits=limits)
    said = [(describe_limit_value(each, summary), each.ok) for each in summary.last.limits]
    assert said == [("no steady state", False), ("7.10 s, no steady state", False), ("2.00/s", True)]


def test_wherever_percentiles_stand_is_said_that_they_are_of_this_run_alone(tmp_path: Path) -> None:
    summary = overloaded(tmp_path / "run")
    steady = summarise(RunFolder(tmp_path / "steady").write())
    said = text(summary, colour=False)
    assert said.index("the times below are of this run alone") < said.index("  p99 ")
    rows = several.markdown({"a": summary, "b": steady})
    median = next(row for row in rows.splitlines() if row.startswith("| response p50"))
    assert [cell.strip()[-1] for cell in median.split("|")[2:4]] == ["†", "s"]
    assert "† no steady state" in rows
    many = several.headline({str(number): summary for number in range(4)} | {"b": steady})
    assert many == "5 runs: median response from 100 ms to 100 ms, 4 had no steady state"


def test_a_load_that_the_host_keeps_up_with_is_valid(tmp_path: Path) -> None:
    made = RunFolder(tmp_path / "run", load="open:2/s", edit=passes(2, 2))
    assert doubts(summarise(made.write())) == []


def test_a_paced_load_is_held_against_its_cycle(tmp_path: Path) -> None:
    def row(of: Row) -> Row:
        return of | {"passes": 2, "sums": of["sums"] | {"think": 0.0, "keying": 1.0}}

    for cycle, found in (("2s", []), ("1s", ["overloaded"])):
        made = RunFolder(tmp_path / cycle, load=f"paced:{cycle}", edit=row)
        assert doubts(summarise(made.write())) == found


def test_passes_are_not_counted_by_group_nor_in_old_records(tmp_path: Path) -> None:
    closed = RunFolder(tmp_path / "closed", edit=passes(1, 4))
    old = RunFolder(tmp_path / "old", load="open:4/s")
    assert [summarise(made.write()).last.settled.overload for made in (closed, old)] == [None, None]


def test_sessions_that_began_before_the_load_settled_have_not_ended(tmp_path: Path) -> None:
    """A session of ten seconds of thinking: in the first ten fewer end than begin, whatever the host can do."""

    def long(of: Row) -> Row:
        return passes(1, 2)(of) | {"sums": of["sums"] | {"think": 10.0, "keying": 0.0}}

    made = RunFolder(tmp_path / "run", load="open:2/s:sessions", edit=long)
    assert summarise(made.write()).last.settled.overload is None


def test_a_drift_is_said_with_both_ends(tmp_path: Path) -> None:
    made = RunFolder(tmp_path / "run", responses=lambda _, __, second: [0.1 * (1 + 0.01 * second)] * 4)
    summary = summarise(made.write())
    assert doubts(summary) == ["unsettled"]
    assert str(summary.doubts[0]) == "no steady state: the response drifted from 100 ms to 129 ms"


def test_a_sweep_that_ends_without_a_steady_state_says_so_instead_of_how_the_response_grew(tmp_path: Path) -> None:
    def slower(step: int, _: int, second: int) -> list[float]:
        return [0.1 + (step and second >= 15)] * 4

    summary = summarise(RunFolder(tmp_path / "run", users=(4, 8), responses=slower).write())
    assert "users at the built-in host (host:): no steady state: the response was 100 ms for 15.0 s" in headline(
        summary
    )
    rows = [line for line in text(summary, colour=False).splitlines() if line.split()[:2] in (["1", "4"], ["2", "8"])]
    assert ["†" in row for row in rows] == [False, True]
