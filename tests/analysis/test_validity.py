"""Each doubt about a run: when it is raised and when it is not."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis import Summary, summarise
from cuesta.analysis.doubts.doubt import OF_RUNS, OF_STEPS
from tests.analysis.features.test_wire import agent, bounds
from tests.report import made_up
from tests.run_folder import Row, RunFolder


def doubts(folder: RunFolder) -> list[str]:
    return [doubted.doubt.name for doubted in summarise(folder.write()).doubts]


def test_the_documents_explain_each_doubt() -> None:
    page = Path(__file__).parents[2] / "docs" / "summary.md"
    rows = page.read_text(encoding="utf-8").partition("| doubt |")[2].partition("\n\n")[0].splitlines()[2:]
    names = [look.__name__ for look in (*OF_RUNS, *OF_STEPS)]
    assert {row.split("|")[1].strip() for row in rows} == {name.replace("_", " ") for name in [*names, "shrunk"]}


def only_when_measured(change: Row) -> Callable[[Row], Row]:
    return lambda row: row | change if row["phase"] == "measure" else row


def test_a_good_run_is_not_doubted(tmp_path: Path) -> None:
    assert doubts(RunFolder(tmp_path / "run")) == []


@pytest.mark.parametrize(
    ("kind", "change", "validity"),
    [
        ("busy", {"cpu": 0.85}, {"driver_cpu": 0.9}),
        ("starved", {"run_wait": 0.22}, {"run_wait": 0.23}),
        ("skipped", {"skipped": 1}, {"skipped": 0.4}),
        ("mismatched", {"stray": 1}, {"echo_mismatches": 0.05}),
        ("mismatched", {"errors": {"unechoed": 1}}, {"echo_mismatches": 0.05}),
        ("unfollowed", {"unfollowed": 10}, {"unfollowed": 0.9}),
        ("continued", {"continued_long": 3}, {"continued": 1.0}),
        ("exhausted", {"errors": {"out-of-ports": 1}}, None),
        ("stuck", {"unfinished": 2, "oldest": 1.3}, None),
        ("few", {"unfinished": 1000, "oldest": 0.01}, None),
    ],
)
def test_values_beyond_the_thresholds_of_the_plan_raise_doubts(
    tmp_path: Path, kind: str, change: Row, validity: Row | None
) -> None:
    edit, echoes = only_when_measured(change), [("interactive/keys/echo", [0.001] * 100)]
    assert doubts(RunFolder(tmp_path / "bad", edit=edit, histograms=echoes)) == [kind]
    if validity:
        assert doubts(RunFolder(tmp_path / "allowed", edit=edit, histograms=echoes, validity=validity)) == []


@pytest.mark.parametrize(("allowed", "found"), [({}, ["stolen"]), ({"steal": "30%"}, [])])
def test_a_host_whose_cpus_were_stolen_is_doubted(tmp_path: Path, allowed: Row, found: list[str]) -> None:
    summary = summarise(RunFolder(tmp_path / "run", validity=allowed, steal=25.0).write())
    assert [doubted.doubt.name for doubted in summary.doubts] == found
    assert summary.json()["host"]["cpu"]["steal"] == 25.0
    assert [str(each) for each in summary.doubts] == (
        ["the hypervisor took 25.0 % of the host's CPUs (allowed 10.0 %)"] if found else []
    )


FRESH, GOOD = agent(0, 0, 0), agent(1, 1000, 100)
"""An agent at the first bound, and at the last: 3 of 1003 segments went plain."""


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (bounds({"driver": FRESH, "host": FRESH}, {"driver": GOOD, "host": GOOD}), []),
        (
            bounds({"driver": FRESH, "host": FRESH}, {"driver": GOOD, "host": None}),
            ["TMux was not in force: no agent answered at the host's end"],
        ),
        (
            bounds({"driver": None, "host": None}, {"driver": None, "host": None}),
            ["TMux was not in force: no agent answered at the driver's and the host's end"],
        ),
        (
            bounds({"driver": FRESH, "host": FRESH}, {"driver": agent(1, 3, 1), "host": GOOD}),
            [],
        ),
        (
            bounds({"driver": FRESH, "host": FRESH}, {"driver": agent(1, 3, 1), "host": agent(1, 200, 10)}),
            ["TMux was not in force: 2.9 % of the segments went plain (allowed 1.0 %)"],
        ),
    ],
)
def test_tmux_that_was_not_in_force_is_doubted(tmp_path: Path, row: Row, said: list[str]) -> None:
    folder = with_plan(RunFolder(tmp_path / "run").write(), {"tmux": "20ms"})
    (folder / "wire.jsonl").write_text(json.dumps(row) + "\n")
    assert [str(each) for each in summarise(folder).doubts] == said


def test_packets_that_agents_lost_are_doubted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    row = bounds({"driver": FRESH, "host": FRESH}, {"driver": GOOD, "host": agent(1, 1000, 100, dropped=1)})
    (folder / "wire.jsonl").write_text(json.dumps(row) + "\n")
    assert [str(each) for each in summarise(folder).doubts] == ["TMux's agents lost 1 packet"]


def test_tmux_without_a_record_of_the_wire_is_doubted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    assert summarise(with_plan(folder, {"tmux": "off"})).doubts == []
    (found,) = summarise(with_plan(folder, {"tmux": "20ms"})).doubts
    assert str(found) == "TMux was not in force: no agent answered at the driver's and the host's end"


def with_plan(folder: Path, settings: Row) -> Path:
    run = json.loads((folder / "run.json").read_text())
    run["plan"] |= settings
    (folder / "run.json").write_text(json.dumps(run))
    return folder


@pytest.mark.parametrize(
    ("user", "allowed", "said"),
    [
        (0, 0.99, []),
        (4, 0.99, ["only 90.0 % of the characters took the in-kernel path (at least 99.0 %)"]),
        (4, 0.9, []),
        (None, 0.5, ["the in-kernel path was not taken"]),
    ],
)
def test_characters_that_missed_the_in_kernel_path_are_doubted(
    tmp_path: Path, user: int | None, allowed: float, said: list[str]
) -> None:
    folder = made_up.good(tmp_path / "run")
    with_plan(folder, {"host": {"path": "kernel"}, "validity": {"in_kernel": allowed}})
    series = folder / "host" / "series.jsonl"
    rows = [json.loads(row) for row in series.read_text().splitlines()]
    for row in rows:
        row["kernel_path"] = None if user is None else {"input": {"kernel": 18}, "output": {"kernel": 18}}
        row["characters"] |= {"typed": 18, "out": 18 + (user or 0)}
    series.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert [str(each) for each in summarise(folder).doubts] == said


def test_a_late_driver_is_doubted(tmp_path: Path) -> None:
    late = [("interactive/keys/lateness", [0.02] * 20)]
    assert doubts(RunFolder(tmp_path / "bad", histograms=late)) == ["late"]
    assert doubts(RunFolder(tmp_path / "allowed", histograms=late, validity={"lateness_p99": "30ms"})) == []


def test_one_busy_agent_is_not_hidden_by_an_idle_one(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2).write()
    series = folder / "agent-1" / "series.jsonl"
    series.write_text(series.read_text().replace('"cpu": 0.01', '"cpu": 0.97'))
    assert [str(each) for each in summarise(folder).doubts] == [
        "the driver was busy: 97.0 % of its cores (allowed 80.0 %)"
    ]


def test_lost_users_are_doubted(tmp_path: Path) -> None:
    assert doubts(RunFolder(tmp_path / "bad", lost=(3,))) == ["lost"]
    assert doubts(RunFolder(tmp_path / "allowed", lost=(3,), validity={"lost_users": 0.25})) == []


def test_users_missing_at_the_start_raise_a_doubt(tmp_path: Path) -> None:
    def late_comer(row: Row) -> Row:
        return row | {"users": 3, "active": 3} if row["phase"] == "settle" else row

    folder = RunFolder(tmp_path / "bad", edit=late_comer)
    assert doubts(folder) == ["incomplete"]
    assert "only 3 of 4 users" in str(summarise(folder.path).doubts[0])
    assert doubts(RunFolder(tmp_path / "allowed", edit=late_comer, validity={"settled": False})) == []
    for lines, advice in ((4, "start users faster"), (9, "give them a rate (--load open:2/s:sessions)")):
        opened = RunFolder(
            tmp_path / str(lines), edit=late_comer, histograms=[("interactive/line/connect", [0.01] * lines)]
        )
        assert advice in summarise(opened.write()).doubts[0].doubt.advice


def test_users_left_over_from_the_load_before_raise_a_doubt(tmp_path: Path) -> None:
    def last_pass(row: Row) -> Row:
        return row | {"users": row["active"] + 1} if row["phase"] == "settle" else row

    folder = RunFolder(tmp_path / "bad", edit=last_pass)
    assert doubts(folder) == ["crowded"]
    assert str(summarise(folder.path).doubts[0]) == "measuring began with 1 user more, of the load before"
    assert doubts(RunFolder(tmp_path / "allowed", edit=last_pass, validity={"settled": False})) == []


def test_sessions_that_come_and_go_need_not_be_there(tmp_path: Path) -> None:
    def idle(row: Row) -> Row:
        return row | {"users": 0, "active": 0}

    assert doubts(RunFolder(tmp_path / "run", edit=idle, load="open:1/s:sessions")) == []


def test_a_slow_start_is_doubted(tmp_path: Path) -> None:
    def warming_up(_: int, __: int, second: int) -> list[float]:
        return [0.1 + second % 3 / 100 + (0.2 if second < 8 else 0.0)] * 10

    folder = RunFolder(tmp_path / "bad", responses=warming_up)
    assert doubts(folder) == ["unsettled"]
    assert (
        str(summarise(folder.path).doubts[0])
        == "no steady state: the response was 309 ms for 8.00 s, 110 ms from then on"
    )
    assert doubts(RunFolder(tmp_path / "allowed", responses=warming_up, validity={"settled": False})) == []


def test_a_run_without_transactions_is_doubted(tmp_path: Path) -> None:
    idle = only_when_measured({"unfinished": 0})
    assert doubts(RunFolder(tmp_path / "run", responses=lambda *_: [], edit=idle)) == ["empty"]
    only_keys = [("interactive/keys/echo", [0.001] * 20)]
    assert doubts(RunFolder(tmp_path / "keys", responses=lambda *_: [], histograms=only_keys, edit=idle)) == []


def test_a_run_that_was_never_measured_is_doubted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    (folder / "agent-0" / "series.jsonl").write_text("")
    (folder / "agent-0" / "histograms.hlog").write_text("")
    summary = summarise(folder)
    assert [each.doubt.name for each in summary.doubts] == ["empty", "incomplete", "late"][:2]
    assert summary.last.transactions.per_s is None
    assert json.dumps(summary.json(), allow_nan=False)


def cut_off(tmp_path: Path) -> Summary:
    folder = RunFolder(tmp_path / "run").write()
    (folder / "agent-0" / "agent.json").unlink()
    series = folder / "agent-0" / "series.jsonl"
    series.write_bytes(series.read_bytes()[:-5])
    return summarise(folder)


def test_a_record_that_was_cut_off_is_doubted_and_still_read(tmp_path: Path) -> None:
    summary = cut_off(tmp_path)
    assert [str(each) for each in summary.doubts] == [
        "the record is cut off: agent-0/series.jsonl: the last row is cut off and left out (and 1 more)"
    ]
    assert (summary.ended, summary.last.seconds) == ("cut off", 29.0)


def test_a_failure_of_the_driver_makes_the_run_invalid(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    ending = {"ended": "failed", "reason": "a thread panicked", "rss_per_user": None}
    (folder / "agent-0" / "agent.json").write_text(json.dumps(ending) + "\n")
    summary = summarise(folder)
    assert summary.ended == "failed"
    assert [str(each) for each in summary.doubts] == ["agent 0 of the driver failed: a thread panicked"]


def test_advice_that_was_followed_is_not_given(tmp_path: Path) -> None:
    def advice(name: str, plan: Row) -> set[str]:
        slow = RunFolder(tmp_path / name, histograms=[("interactive/keys/lateness", [0.5] * 9_000)])
        folder = replace(slow, edit=lambda row: row | {"run_wait": 0.9}).write()
        run = json.loads((folder / "run.json").read_text())
        (folder / "run.json").write_text(json.dumps({**run, "plan": {**run["plan"], **plan}}))
        return {each.doubt.advice for each in summarise(folder).doubts}

    loose = advice("loose", {})
    assert len({each for each in loose if "--pin" in each}) == 2
    for name in ("pin", "isolate"):
        pinned = advice(name, {name: True})
        assert len(pinned) == len(loose)
        assert not any("--pin" in each for each in pinned)


def test_a_doubt_names_its_step_and_gives_advice(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(2, 4), measure=5)
    folder.edit = lambda row: row | {"cpu": 0.95} if row["step"] == 1 else row
    found = summarise(folder.write()).json()["invalid_because"]
    assert len(found) == 1
    assert found[0].startswith("step 2: the driver was busy: 95.0 % of its cores (allowed 80.0 %); use fewer users")
