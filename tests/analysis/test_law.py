"""The interactive response-time law, by hand and on a simulated closed loop."""

import random
import statistics

import pytest

from cuesta.analysis.law import apply_law
from cuesta.records.rows import TimeSums
from tests.analysis.closed_loop import closed_loop


def test_the_law_by_hand() -> None:
    answered = 288 * 0.4
    sums = TimeSums(think=2880 - 288 * 0.5, keying=288 * 0.1, response=answered, response_from_sent=answered)
    found = apply_law(96, 30.0, 288, sums)
    assert found is not None
    assert found.x == 9.6
    assert (found.z, found.k) == pytest.approx((9.5, 0.1))
    assert found.r_predicted == pytest.approx(0.4)
    assert found.r_measured == pytest.approx(0.4)
    assert found.error == pytest.approx(0.0)
    assert found.chance == pytest.approx((2 * 9.6 * 0.4) ** 0.5 * 0.4 / 2880)


def test_nothing_is_predicted_without_transactions() -> None:
    sums = TimeSums(think=0.0, keying=0.0, response=0.0, response_from_sent=0.0)
    assert apply_law(96, 30.0, 0, sums) is None
    assert apply_law(0, 30.0, 5, sums) is None
    assert apply_law(96, 0.0, 5, sums) is None


@pytest.mark.parametrize(("think", "service"), [(10.0, 0.005), (3.0, 0.03), (1.0, 0.03)])
def test_a_closed_loop_obeys_the_law_within_chance(think: float, service: float) -> None:
    rng = random.Random(1)
    errors, chance = [], 0.0
    for _ in range(50):
        seen = closed_loop(rng, users=96, think=think, service=service, delay=0.34, seconds=30)
        answered = sum(seen.response)
        sums = TimeSums(think=seen.thinking, keying=0.0, response=answered, response_from_sent=answered)
        found = apply_law(96, 30.0, sum(seen.transactions), sums)
        assert found is not None
        errors.append(found.error)
        chance += found.chance / 50
    assert abs(statistics.fmean(errors)) < 4 * chance / 50**0.5
    assert 0.2 * chance < statistics.stdev(errors) < 1.5 * chance
    assert max(map(abs, errors)) < 0.02
