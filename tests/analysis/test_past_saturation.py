from types import SimpleNamespace
from typing import Any

import pytest

from cuesta.analysis.past_saturation import past_saturation
from cuesta.figures.step import ResponseLaw

CAPACITY = 30.0
UNHINDERED = 0.4


def step(number: int, think: float, kept: float = 1.0, lost: int = 0, tape: str = "one.tape", users: int = 96) -> Any:
    """A step of a closed load at a host that completes at most 30 transactions a second, beyond that `kept` of them."""
    offered = users / (UNHINDERED + think)
    x = offered if offered <= CAPACITY else CAPACITY * kept
    response = users / x - think
    law = ResponseLaw(users, x, think, 0.0, response, response, 0.0, 0.0)
    swept = {"tape": tape, "think": f"exp {think:g}s", "users": users}
    return SimpleNamespace(step=number, swept=swept, law=law, errors=SimpleNamespace(count=lost), lost_users=lost)


def test_a_host_that_keeps_its_throughput() -> None:
    (found,) = past_saturation([step(0, 10.0), step(1, 3.0), step(2, 1.0), step(3, 0.0)])
    assert (found.swept, found.most_per_s) == ({"tape": "one.tape"}, CAPACITY)
    assert (found.steps, found.kept, found.errors, found.lost_users) == ([2, 3], 1.0, 0, 0)
    assert found.offered == pytest.approx(96 / UNHINDERED / CAPACITY)


def test_a_host_that_loses_throughput_and_lines_past_saturation() -> None:
    (found,) = past_saturation([step(0, 10.0), step(1, 2.8), step(2, 1.0, kept=0.8, lost=3)])
    assert (found.steps, found.most_at) == ([2], 1)
    assert found.kept == pytest.approx(0.8, rel=0.01)
    assert (found.errors, found.lost_users) == (3, 3)


def test_what_nothing_saturated_is_left_out() -> None:
    assert past_saturation([step(0, 10.0), step(1, 5.0), step(2, 3.0)]) == []


def test_only_steps_that_differ_in_their_load_alone_are_one_series() -> None:
    loads = [step(0, 10.0), step(1, 0.0), step(2, 10.0, tape="two.tape"), step(3, 5.0, tape="two.tape")]
    (found,) = past_saturation(loads)
    assert (found.swept, found.steps) == ({"tape": "one.tape"}, [1])


def test_other_loads_than_closed_ones_are_not_judged() -> None:
    loads = [step(0, 10.0), step(1, 0.0)]
    for each in loads:
        each.law = None
    assert past_saturation(loads) == []
