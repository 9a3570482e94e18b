"""The host's CPU time by cause, over time and for each transaction."""

from pathlib import Path

import pytest

from cuesta.analysis.causes import causes_over_time, cost_by_cause, uses_over_time
from cuesta.analysis.summary import summarise
from cuesta.ledger import Recorded, open_run
from cuesta.ledger.meters import Metered, MeterRow
from tests.meter_reports import typed
from tests.report import made_up
from tests.run_folder import RunFolder


def metered(path: Path, rows: list[MeterRow]) -> Recorded:
    recorded = open_run(RunFolder(path, measure=3).write())
    return Recorded(recorded.folder, recorded.run, recorded.agents, {}, [], [], Metered(rows=rows))


def sampled(second: float, **percent: float) -> MeterRow:
    causes = {name: {"percent": value} for name, value in percent.items()}
    return MeterRow(second, 1.0, typed({"by_cause": {"causes": causes}}))


def test_a_gap_in_the_meters_divides_the_curve(tmp_path: Path) -> None:
    run = open_run(made_up.sampled(tmp_path / "run"))
    first, second = causes_over_time(run)
    assert first.at[-1] < 10
    assert second.at[0] > 14
    assert first.shares[0].keys() == made_up.CAUSES.keys()


def test_a_second_in_which_the_host_did_not_run_is_not_a_gap(tmp_path: Path) -> None:
    run = metered(tmp_path / "run", [sampled(1, user=3.0), sampled(2), sampled(3, user=1.0)])
    (only,) = causes_over_time(run)
    assert [shares.get("user", 0.0) for shares in only.shares] == [3.0, 0.0, 1.0]


def test_seconds_without_samples_are_left_out(tmp_path: Path) -> None:
    assert causes_over_time(metered(tmp_path / "run", [MeterRow(1.0, 1.0, typed({"cpu": {}}))])) == []


def test_long_runs_are_put_together_without_losing_time(tmp_path: Path) -> None:
    run = metered(tmp_path / "run", [sampled(float(second + 1), user=float(second % 2)) for second in range(3000)])
    (only,) = causes_over_time(run)
    assert len(only.at) <= 301
    assert sum(shares["user"] for shares in only.shares) / len(only.at) == pytest.approx(0.5)


def test_uses_and_idle_make_up_the_whole(tmp_path: Path) -> None:
    run = open_run(made_up.good(tmp_path / "run"))
    (only,) = uses_over_time(run)
    assert only.shares[0]["the host itself"] == 12.0
    assert sum(only.shares[0].values()) == pytest.approx(100.0 - 64.0)


def test_cost_per_transaction_is_sampled_time_over_counted_transactions(tmp_path: Path) -> None:
    step = summarise(made_up.sampled(tmp_path / "run")).last
    cost = cost_by_cause(step)
    assert cost
    assert cost["user"] == pytest.approx(0.6 * made_up.CAUSES["user"] / step.transactions.count)
    assert cost_by_cause(summarise(made_up.bad(tmp_path / "other")).last) is None
