"""The object that `--json` prints, of a folder with known figures."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest

from cuesta.analysis.summary import summarise
from tests.report import made_up
from tests.run_folder import Row, RunFolder, rows, write_rows

DISTRIBUTION = {"count", "min", "mean", "p50", "p90", "p95", "p99", "p999", "max", "longest"}
NOTHING = {"count": 0, "censored": 0, "at_least": []} | dict.fromkeys(DISTRIBUTION - {"count"})


def test_the_figures_of_a_known_run(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run").write())
    found = summary.json()
    assert found["valid"] is True
    assert found["invalid_because"] == []
    assert (found["users"], found["seconds"], found["load"]) == (4, 30.0, "closed")
    assert found["transactions"] == {"count": 60, "per_s": 2.0}
    assert found["keystrokes"] == {"count": 780, "per_s": 26.0}
    assert found["characters"] == {
        "in_per_s": 26.0,
        "in_per_s_per_user": 6.5,
        "out_per_s": 300.0,
        "line_in_per_s": 28.0,
        "line_out_per_s": 320.0,
    }
    assert found["errors"] == {"count": 0, "by_name": {}, "before": {}, "said": {}, "rate": 0.0}
    assert found["unfinished"] == {"count": 1, "oldest": 0.05}
    assert found["driver"] == {
        "cpu": pytest.approx(0.01),
        "run_wait": pytest.approx(0.001),
        "spun": pytest.approx(0.002),
        "own": NOTHING,
        "threads": 1,
        "rss_per_user": 2048,
        "screens": None,
        "voids": [],
        "watching": None,
        "watchers": {},
    }
    assert found["run_folder"] == str(tmp_path / "run")
    assert found["ended"] == "completed"
    assert json.dumps(found, allow_nan=False)


def test_the_distributions_of_a_known_run(tmp_path: Path) -> None:
    found = summarise(RunFolder(tmp_path / "run").write()).json()
    assert found["response"]["count"] == 60
    assert found["response"]["p50"] == pytest.approx(0.1, rel=1e-3)
    assert found["response"]["mean"] == pytest.approx(0.15, rel=1e-3)
    assert found["response"]["p99"] == pytest.approx(0.2, rel=1e-3)
    assert found["response_from_sent"]["mean"] == pytest.approx(0.149, rel=1e-3)
    assert found["first_response"]["max"] == pytest.approx(0.1, rel=1e-3)
    assert found["lateness"]["count"] == 780
    assert found["classes"][0]["transaction"] == "a, b/c"
    assert found["classes"][0]["response"] | {"path": None} == found["response"]


def test_absent_is_not_zero(tmp_path: Path) -> None:
    found = summarise(RunFolder(tmp_path / "run").write()).json()
    assert found["echo"] == NOTHING | {"path": None}
    assert found["kernel"] is None
    assert found["host"]["cpu"] is None
    assert found["host"]["cpu_missing"].startswith("no meter data: ")
    assert found["host"]["builtin"] is None


def test_lines_opened_before_measuring_are_counted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(4, 8), measure=5).write()
    opened = [("interactive/line/connect", [0.01] * 4), ("interactive/line/login", [0.5] * 2)]
    with (folder / "agent-0" / "histograms.hlog").open("a") as log:
        # The first step: while it settles, and after its end; the second: while it settles.
        log.writelines(rows(0, 0, opened) + rows(0, 7, opened) + rows(1, 8, opened[:1]))
    first, second = summarise(folder).steps
    assert (first.connect.count, first.negotiation.count, first.login.count) == (4, 0, 2)
    assert first.connect.p50 == pytest.approx(0.01, rel=1e-3)
    assert (second.connect.count, second.login.count) == (4, 0)
    assert first.response.count == 10, "responses before measuring do not count"


def test_the_law_holds_for_a_consistent_folder(tmp_path: Path) -> None:
    law = summarise(RunFolder(tmp_path / "run").write()).last.law
    assert law is not None
    assert (law.n, law.x) == (4.0, 2.0)
    assert law.r_predicted == pytest.approx(0.149)
    assert law.error == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("load", ["paced:200ms", "open:30/s", "open:1/s:sessions"])
def test_the_law_is_checked_for_closed_loads_only(tmp_path: Path, load: str) -> None:
    last = summarise(RunFolder(tmp_path / "run", load=load).write()).last
    assert (last.load, last.law) == (load, None)


def test_agents_are_merged_exactly_and_listed_separately(tmp_path: Path) -> None:
    biased = RunFolder(tmp_path / "run", agents=2, responses=lambda _, agent, *__: [0.1] * 9 + [0.1 + agent])
    last = summarise(biased.write()).last
    assert last.transactions.count == 600
    assert last.response.p50 == pytest.approx(0.1, rel=1e-3)
    assert last.response.p95 == pytest.approx(0.1, rel=1e-3)
    assert last.response.p99 == pytest.approx(1.1, rel=1e-3)
    assert [agent.response.p99 for agent in last.agents] == [pytest.approx(p, rel=1e-3) for p in (0.1, 1.1)]
    assert last.driver.threads == 2
    assert last.fairness is not None
    assert last.fairness.users == 4


def test_errors_are_added_by_name(tmp_path: Path) -> None:
    def fail(row: Row) -> Row:
        return row | {"errors": {"timeout": 1, "reset": 2}, "stray": 1}

    last = summarise(RunFolder(tmp_path / "run", edit=fail).write()).last
    assert last.errors.by_name == {"reset": 60, "timeout": 30}
    assert (last.errors.count, last.stray) == (90, 30)
    assert last.errors.before == {"reset": 4, "timeout": 2}


def test_kernel_and_user_times_are_compared(tmp_path: Path) -> None:
    stamped = [
        ("interactive/stamped/kernel_response", [0.1] * 50),
        ("interactive/stamped/user_response", [0.100_02] * 50),
    ]
    kernel = summarise(RunFolder(tmp_path / "run", histograms=stamped).write()).last.kernel
    assert kernel is not None
    assert kernel.kernel_response.count == 50
    assert kernel.inflation.p50 == pytest.approx(0.000_02, abs=0.000_13)  # 3 digits of 100 ms


def test_a_sweep_lists_its_steps_and_the_last_is_at_the_top(tmp_path: Path) -> None:
    def busier(step: int, _: int, __: int) -> list[float]:
        return [0.1] * (step + 1)

    found = summarise(RunFolder(tmp_path / "run", users=(2, 4, 8), measure=5, responses=busier).write()).json()
    assert [step["users"] for step in found["steps"]] == [2, 4, 8]
    assert [step["transactions"]["per_s"] for step in found["steps"]] == [1.0, 2.0, 3.0]
    assert [step["swept"] for step in found["steps"]] == [{"users": 2}, {"users": 4}, {"users": 8}]
    assert (found["users"], found["transactions"]["count"], found["step"]) == (8, 15, 2)


def test_an_interrupted_run_keeps_what_was_measured(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(2, 4), measure=5, ended="interrupted").write()
    series = folder / "agent-0" / "series.jsonl"
    series.write_text("".join(series.read_text().splitlines(keepends=True)[:12]))
    summary = summarise(folder)
    assert summary.json()["interrupted"] is True
    assert [(step.users, step.seconds) for step in summary.steps] == [(2, 5.0), (4, 3.0)]
    assert summary.last.planned_seconds == 5.0
    assert summary.valid


def test_the_host_has_its_own_figures(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    (folder / "host").mkdir()
    rows = [host_row(second, messages=10 if second >= 2 else 99) for second in range(32)]
    write_rows(folder / "host" / "series.jsonl", rows)
    host = summarise(folder).last.host.builtin
    assert host is not None
    assert (host.seconds, host.served_per_s, host.lines, host.pool_used) == (30.0, 10.0, 96, 31)
    assert (host.busy, host.queue, host.cpu) == pytest.approx((0.05, 0.01, 0.02))


def host_row(second: int, messages: int) -> Row:
    row = made_up.host_row(second)
    pool = row["pool"] | {"size": 1000, "least_free": 1000 - second}
    return row | {
        "lines": row["lines"] | {"connected": 96},
        "messages": {"in": messages, "out": messages},
        "pool": pool,
    }


@pytest.mark.parametrize(
    ("limit", "value", "ok"),
    [
        ("response.p95 < 2s", 0.2, True),
        ("response.p50 <= 50ms", 0.1, False),
        ("response{a, b/c}.max < 1s", 0.2, True),
        ("response{other}.p50 < 1s", None, False),
        ("response.count >= 60", 60, True),
        ("lateness.p99 < 10ms", 0.000_02, True),
        ("echo.p99 < 1s", None, False),
        ("throughput > 1.5", 2.0, True),
        ("errors.rate < 1%", 0.0, True),
        ("transactions.count > 60", 60, False),
        ("characters.in_per_s_per_user > 6", 6.5, True),
    ],
)
def test_limits_are_compared_with_measured_values(tmp_path: Path, limit: str, value: float | None, ok: bool) -> None:
    summary = summarise(RunFolder(tmp_path / "run", limits=[limit]).write())
    (found,) = summary.json()["limits"]
    assert found["limit"] == limit
    assert found["value"] == (value if value is None else pytest.approx(value, rel=1e-3))
    assert (found["ok"], summary.limits_ok, found["step"]) == (ok, ok, 0)


@pytest.mark.parametrize(
    ("limit", "value"),
    [
        ("echo{students}.p50 < 100ms", 0.03),
        ("echo{interactive}.p50 < 100ms", 0.2),
        ("response{students}.max < 1s", 0.9),
        ("response{vi}.max < 1s", 0.9),
        ("response{students: vi}.max < 1s", 0.9),
        ("response{students}.count > 1", 40),
        ("throughput{students} > 1", 40 / 30),
        ("response{interactive: vi}.max < 1s", None),
    ],
)
def test_a_limit_may_be_of_one_group(tmp_path: Path, limit: str, value: float | None) -> None:
    echoes = [("students/keys/echo", [0.03] * 50), ("interactive/keys/echo", [0.2] * 50)]
    folder = RunFolder(tmp_path / "run", limits=[limit], histograms=[*echoes, ("students/vi/response", [0.9] * 40)])
    (found,) = summarise(folder.write()).last.limits
    assert found.value == (value if value is None else pytest.approx(value, rel=1e-2))


def test_the_cost_of_screens_is_reported_where_screens_are_used(tmp_path: Path) -> None:
    screens = {"count": 4, "bytes": 4 * 62 * 1024, "drawing": 0.02}
    folder = RunFolder(tmp_path / "run", edit=lambda row: row | {"screens": screens})
    found = summarise(folder.write()).last.driver.screens
    assert found is not None
    assert (found.count, found.bytes_each) == (4, 62 * 1024)
    assert found.drawing == pytest.approx(0.02)


def censored(path: Path, *unanswered: tuple[str, list[float]], limits: list[str]) -> Row:
    """A run with 60 answers of up to 0.2 s, and waits that were not answered."""
    name = f"interactive/{quote('a, b/c', safe='')}"
    more = [(f"{name}/response_{end}", values) for end, values in unanswered]
    return summarise(RunFolder(path, histograms=more, limits=limits).write()).json()


def test_what_timed_out_counts_in_percentiles_and_limits(tmp_path: Path) -> None:
    limits = ["response.p95 < 1s", "response.p95 < 5s", "response.p50 < 1s", "response.max < 5s", "response.p95 > 1s"]
    found = censored(tmp_path / "run", ("timed_out", [4.0] * 5), limits=limits)
    response = found["response"]
    assert (response["count"], response["censored"], response["longest"]) == (60, 5, pytest.approx(4.0, rel=1e-3))
    assert response["p95"] == pytest.approx(4.0, rel=1e-3)
    assert {"p95", "p99", "p999", "max", "mean"} == set(response["at_least"])
    assert found["classes"][0]["response"] | {"path": None} == response
    judged = {each["limit"]: (each["ok"], each["at_least"], each["undecided"]) for each in found["limits"]}
    unknown = "it is at least 4.00 s, and no wait was longer"
    assert judged == {
        "response.p95 < 1s": (False, True, None),
        "response.p95 < 5s": (False, True, unknown),
        "response.p50 < 1s": (True, False, None),
        "response.max < 5s": (False, True, unknown),
        "response.p95 > 1s": (True, True, None),
    }


def test_lost_answers_cross_limits_however_early_they_were_lost(tmp_path: Path) -> None:
    limits = ["response.p95 < 5s", "response.max < 5s", "response.p90 < 5s"]
    found = censored(tmp_path / "run", ("lost", [0.001] * 4), limits=limits)
    assert [(each["ok"], each["undecided"]) for each in found["limits"]] == [(False, None), (False, None), (True, None)]


def test_what_the_end_cut_off_is_censored_and_no_failure(tmp_path: Path) -> None:
    found = censored(tmp_path / "run", ("unfinished", [0.05] * 2), limits=["response.p95 < 1s"])
    assert (found["response"]["censored"], found["unanswered"], found["errors"]["count"]) == (2, 0, 0)
    assert found["limits"][0]["ok"]


def test_openings_that_failed_or_hang_are_censored(tmp_path: Path) -> None:
    """They count in the whole step, so that nothing of them began before it."""
    opened = {"": [0.01] * 4, "_lost": [0.002] * 2, "_unfinished": [9.0] * 3, "_begun_before": [20.0] * 3}
    more = [(f"interactive/line/connect{end}", values) for end, values in opened.items()]
    found = summarise(RunFolder(tmp_path / "run", histograms=more).write()).json()["connect"]
    assert (found["count"], found["censored"]) == (4, 5)
    assert found["p50"] == pytest.approx(9.0, rel=1e-3)
    assert "p50" in found["at_least"]


def test_a_class_without_any_answer_is_listed(tmp_path: Path) -> None:
    more = [("interactive/search/response_timed_out", [4.0] * 3)]
    (classed,) = (
        each
        for each in summarise(RunFolder(tmp_path / "run", histograms=more).write()).json()["classes"]
        if each["transaction"] == "search"
    )
    assert (classed["response"]["count"], classed["response"]["censored"]) == (0, 3)


@pytest.mark.parametrize(
    ("limit", "values", "decided"),
    [
        *(("echo.p95 < 1s", 44, False), ("echo.p95 < 1s", 45, True)),
        *(("echo.p99 < 1s", 229, False), ("echo.p99 < 1s", 230, True)),
        *(("echo.p99.9 < 1s", 2_301, False), ("echo.p99.9 < 1s", 2_302, True)),
        *(("echo.p5 > 1ms", 44, False), ("echo.p5 > 1ms", 45, True), ("echo.max < 1s", 1, True)),
        *(("echo.p99.9 < 10ms", 2, True), ("echo.mean < 1s", 1, True)),
    ],
)
def test_too_few_values_do_not_show_a_percentile(tmp_path: Path, limit: str, values: int, decided: bool) -> None:
    """Not decided where even no value beyond the limit would not show it: q ** n > 0.1. A crossed limit is crossed."""
    echoes = [("interactive/keys/echo", [0.05] * values)]
    summary = summarise(RunFolder(tmp_path / "run", limits=[limit], histograms=echoes).write())
    (found,) = summary.json()["limits"]
    assert (found["undecided"] is None) is decided
    assert summary.limits_ok is (None if not decided else "10ms" not in limit)
