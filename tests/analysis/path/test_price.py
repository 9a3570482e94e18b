"""What following a key costs, by the keys that are left out."""

import random
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.path.join import JoinedKey
from cuesta.analysis.path.price import EXACT, estimate_price
from cuesta.ledger.paths import Followed
from cuesta.records.rows import FollowedRow, PathRow

PATH = PathRow(
    key_from=0, key_to=1, echo_from=0, echo_to=1, begun=0, ns=1, whole=True, hops=()
)  # what matters is that there is one


def press(number: int, took: float, is_followed: bool, user: int = 0) -> JoinedKey:
    sent = number * 10**8
    row = FollowedRow(
        user_group="g", user=user, what="echo", key=number, echo_from=0, echo_to=1, sent=sent, shown=sent + round(took)
    )
    followed = Followed(row, Path("run"), sent / 1e9, sent / 1e9 + took / 1e9)
    return JoinedKey(followed, PATH) if is_followed else JoinedKey(followed, missing="control")


def run(keys: int, price: float, seed: int = 1, users: int = 1) -> list[JoinedKey]:
    """Keys whose times are skewed, and drift: every eighth is left out, and quicker by the price, in ns."""
    draw = random.Random(seed)
    pressed = []
    for number in range(keys):
        is_followed = draw.random() > 1 / 8
        took = 200_000 + 100 * number + draw.expovariate(1 / 20_000) + price * is_followed
        pressed.append(press(number, took, is_followed, user=number % users))
    return pressed


def test_the_price_is_found_with_its_interval() -> None:
    for keys in (EXACT * 6, 4000):
        found = estimate_price(run(keys, 15_000))
        assert found
        assert found.low < 15e-6 < found.high
        assert found.low <= found.estimate <= found.high
        assert abs(found.estimate - 15e-6) < 8e-6


def test_the_interval_holds_the_price_as_often_as_it_says() -> None:
    """Of 100 runs 95 are expected, at least 88 with a chance of 0.998."""
    found = [estimate_price(run(400, 15_000, seed)) for seed in range(100)]
    assert sum(price is not None and price.low <= 15e-6 <= price.high for price in found) >= 88


@given(st.integers(-10_000, 30_000))
def test_the_price_of_equal_keys_is_exact(price: int) -> None:
    keys = [press(number, 100_000 + price * (number % 8 != 0), number % 8 != 0) for number in range(80)]
    found = estimate_price(keys)
    assert found
    assert round(found.estimate * 1e9) == round(found.low * 1e9) == round(found.high * 1e9) == price


def test_too_few_control_keys_tell_nothing() -> None:
    assert estimate_price([]) is None
    assert estimate_price([press(number, 1000, is_followed=number % 8 != 0) for number in range(30)]) is None
    assert estimate_price([press(number, 1000, is_followed=False) for number in range(300)]) is None
