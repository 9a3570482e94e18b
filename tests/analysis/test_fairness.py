"""Whether users were served equally."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.fairness import compare_users, jain
from cuesta.records.rows import UserRow

MEANS = st.lists(st.floats(1e-6, 1e4), min_size=1, max_size=50)


def user(number: int, mean: float, transactions: int = 3) -> UserRow:
    return UserRow(step=0, group="clerks", user=number, transactions=transactions, mean=mean, max=mean, lost=None)


@given(MEANS)
def test_jains_index_lies_between_1_of_n_and_1(means: list[float]) -> None:
    assert 1 / len(means) * (1 - 1e-9) <= jain(means) <= 1


@given(MEANS, st.floats(1e-3, 1e3))
def test_jains_index_does_not_depend_on_unit_or_order(means: list[float], factor: float) -> None:
    assert jain([mean * factor for mean in reversed(means)]) == pytest.approx(jain(means))


def test_jains_index_of_known_users() -> None:
    assert jain([2.0] * 7) == 1.0
    assert jain([1.0, 0.0, 0.0, 0.0]) == 0.25
    assert jain([0.0, 0.0]) == 1.0
    assert jain([1.0] * 99 + [10.0]) == pytest.approx(109**2 / (100 * 199))


def test_the_slowed_user_is_named() -> None:
    found = compare_users([user(n, 0.1 if n != 42 else 1.0) for n in range(100)])
    assert found is not None
    assert (found.worst_user, found.worst_group, found.worst_mean, found.median) == (42, "clerks", 1.0, 0.1)


def test_users_who_completed_nothing_are_not_compared() -> None:
    found = compare_users([user(1, 0.1), user(2, 0.0, transactions=0)])
    assert found is not None
    assert (found.users, found.jain) == (1, 1.0)
    assert compare_users([user(2, 0.0, transactions=0)]) is None
