from itertools import combinations
from pathlib import Path

import pytest

from cuesta.analysis.features.batching import FALSE_ALARM, Change, Effect, Spread, find_effects
from cuesta.analysis.summary import summarise
from tests.report.made_up import batching


def effect(path: Path, seeds: tuple[int, ...] = (1, 2, 3, 4)) -> Effect:
    (found,) = find_effects(summarise(batching(path / "run", seeds)))
    return found


def test_a_setting_is_compared_with_the_same_steps_without_it(tmp_path: Path) -> None:
    found = effect(tmp_path)
    assert (found.setting, found.configuration) == ((("tmux", "20ms"),), ())
    few, many = found.loads
    assert (few.users, many.users) == (25, 400)
    assert many.cpu is not None
    assert (many.cpu.without.median, many.cpu.with_setting.median) == pytest.approx((40e-6, 24e-6))
    assert (many.cpu.without.low, many.cpu.without.high) == pytest.approx((38.8e-6, 41.2e-6))
    assert many.cpu.share == pytest.approx(-0.4)
    assert many.packets is not None
    assert many.packets.verdict == "less"
    assert many.packets.share == pytest.approx(-2 / 3)
    assert few.response is not None
    assert few.response.verdict == "more"
    assert few.response.difference == pytest.approx(0.039, rel=0.01)


def test_ranges_that_overlap_are_not_told_apart(tmp_path: Path) -> None:
    """At 25 users: 97 to 103 µs without, 100 to 106 µs with TMux."""
    few = effect(tmp_path).loads[0].cpu
    assert few is not None
    assert few.verdict == "not told apart"
    assert few.share == pytest.approx(0.03)


def test_it_wins_from_the_users_on_from_which_no_load_fails(tmp_path: Path) -> None:
    found = effect(tmp_path)
    assert found.saves_from == 400
    assert found.most_saved is not None
    assert found.most_saved.users == 400
    assert found.most_saved.share == pytest.approx(0.4)


@pytest.mark.parametrize("seeds", [(1,), (1, 2, 3)])
def test_too_few_repeats_claim_nothing(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    found = effect(tmp_path, seeds)
    assert (found.is_repeated, found.saves_from, found.most_saved) == (False, None, None)
    assert found.loads[1].cpu is not None
    assert found.loads[1].cpu.verdict == "not told apart"
    assert found.loads[1].cpu.share == pytest.approx(-0.4, abs=0.01)


@pytest.mark.parametrize(
    ("without", "with_setting", "verdict"),
    [
        ([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0], "less"),
        ([1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0], "more"),
        ([1.0, 2.0, 3.0, 5.0], [5.0, 6.0, 7.0, 8.0], "not told apart"),
        ([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0], "not told apart"),
    ],
)
def test_verdicts(without: list[float], with_setting: list[float], verdict: str) -> None:
    assert Change(Spread(without), Spread(with_setting)).verdict == verdict


def test_equal_figures_are_rarely_told_apart() -> None:
    """Every order of eight different values, of which the first four belong to one side."""
    orders = [(first, {*range(8)} - {*first}) for first in combinations(range(8), 4)]
    changes = [Change(Spread([*map(float, one)]), Spread([*map(float, other)])) for one, other in orders]
    told = sum(change.is_less or change.is_more for change in changes)
    assert told / len(changes) == pytest.approx(FALSE_ALARM) == pytest.approx(0.0286, abs=0.0001)


def test_steps_in_doubt_do_not_count(tmp_path: Path) -> None:
    """The driver was busy in the last second of the last step, which is of 400 users with TMux."""
    folder = batching(tmp_path / "run")
    series = folder / "agent-0" / "series.jsonl"
    rows = series.read_text().splitlines()
    series.write_text("".join(f"{row}\n" for row in rows[:-5]) + "".join(f"{busy(row)}\n" for row in rows[-5:]))
    (found,) = find_effects(summarise(folder))
    assert [len(load.cpu.with_setting.values) for load in found.loads if load.cpu] == [4, 3]


def busy(row: str) -> str:
    return row.replace('"cpu": 0.01', '"cpu": 0.99')


def test_half_the_grid_is_added_to_the_response_of_aligned_keys(tmp_path: Path) -> None:
    """Keys wait for the grid before they are due: 40 ms are measured, a wait for 20 ms has a mean of 10."""
    (found,) = find_effects(summarise(aligned(batching(tmp_path / "run"))))
    few = found.loads[0].response
    assert few is not None
    assert (few.without.median, few.with_setting.median) == pytest.approx((0.001, 0.050), rel=0.01)


def test_the_wait_of_one_group_for_its_grid_says_nothing_of_all_users(tmp_path: Path) -> None:
    (found,) = find_effects(summarise(aligned(batching(tmp_path / "run"), "group.typists.align")))
    assert [load.response for load in found.loads] == [None, None]


def aligned(folder: Path, axis: str = "align") -> Path:
    """The same sweep, of aligned keys instead of TMux."""
    run = folder / "run.json"
    run.write_text(run.read_text().replace('"tmux": "', f'"{axis}": "'))
    return folder
