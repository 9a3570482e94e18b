"""Waits that were not answered: percentiles and means of what was asked, judged by scipy, by full logs and by hand."""

import math
import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cuesta._native import Histogram
from cuesta.analysis.waits import Waits
from tests.hdr import encode

BUCKET = 2e-3
"""The relative width of a histogram's bucket, at most."""


def histogram(seconds: Sequence[float]) -> Histogram | None:
    return Histogram.decode(encode(seconds)) if seconds else None


def waits(answered: Sequence[float] = (), timed_out: Sequence[float] = (), lost: Sequence[float] = ()) -> Waits:
    return Waits(histogram(answered), histogram(timed_out), histogram(lost))


def quantile(of: Waits, share: float) -> tuple[float, bool]:
    """A quantile, and whether it is a lower bound."""
    found = of.quantile(share)
    assert found is not None
    return found.value, found.at_least


def test_each_figure_of_answered_waits_has_its_own_quantile() -> None:
    found = waits([number / 1000 for number in range(1, 10_001)]).distribution()
    expected = {"min": 0.001, "mean": 5.0005, "p50": 5.0, "p90": 9.0, "p95": 9.5, "p99": 9.9, "p999": 9.99, "max": 10.0}
    assert (found.count, found.censored, found.at_least, found.longest) == (10_000, 0, [], found.max)
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, rel=1e-3), name


def test_nothing_recorded_has_no_figures_but_its_counts() -> None:
    found = Waits().distribution()
    assert (found.count, found.censored, found.p50, found.mean, found.at_least) == (0, 0, None, None, [])


def test_a_percentile_among_those_that_timed_out_is_at_least_their_wait() -> None:
    found = waits([0.05] * 93, [4.0] * 7).distribution()
    assert (found.count, found.censored) == (93, 7)
    assert [found.p50, found.p90] == [pytest.approx(0.05, rel=BUCKET)] * 2
    assert found.at_least == ["mean", "p95", "p99", "p999", "max"]
    assert [found.p95, found.p99, found.max] == [pytest.approx(4.0, rel=BUCKET)] * 3
    assert found.mean == pytest.approx(0.93 * 0.05 + 0.07 * 4.0, rel=BUCKET)


def test_where_nothing_was_answered_everything_is_a_bound() -> None:
    found = waits(timed_out=[1.0, 4.0]).distribution()
    assert (found.count, found.censored, found.min) == (0, 2, None)
    assert [found.p50, found.p99] == [pytest.approx(4.0, rel=BUCKET)] * 2
    assert found.at_least == ["mean", "p50", "p90", "p95", "p99", "p999", "max"]


def test_what_was_lost_early_stays_unanswered() -> None:
    """A host that closes the line at once instead of answering slowly: no answer is on its way."""
    found = waits([0.1] * 90, lost=[0.002] * 10)
    assert [*quantile(found, 0.9)] == [pytest.approx(0.1, rel=BUCKET), False]
    assert [*quantile(found, 0.95)] == [pytest.approx(0.1, rel=BUCKET), True]
    assert found.share_lost == 0.1
    timed_out = waits([0.1] * 90, timed_out=[0.002] * 10)
    assert [*quantile(timed_out, 0.95)] == [pytest.approx(0.1, rel=BUCKET), False]


durations = st.lists(st.floats(1e-4, 50.0), max_size=60)


@given(durations, durations, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
@settings(deadline=None)
def test_quantiles_are_those_of_scipys_product_limit(answered: list[float], given_up: list[float], q: float) -> None:
    """`scipy.stats.ecdf` of the values as the histograms' buckets hold them."""
    found = waits(answered, given_up)
    if not found.total:
        return
    known, censored = (
        [seconds for seconds, count in (each.buckets() if each else []) for _ in range(count)]
        for each in (found.answered, found.timed_out)
    )
    judge = stats.ecdf(stats.CensoredData(uncensored=known, right=censored)).cdf
    reached = [x for x, p in zip(judge.quantiles, judge.probabilities, strict=True) if p >= q - 1e-9 and x in known]
    estimate = found.quantile(q)
    assert estimate is not None
    assert estimate.at_least is not bool(reached)
    assert estimate.value == (min(reached) if reached else max(known + censored))


LONG = 15.0
"""Seconds of which a measurement of 20 s shows too little."""
HOSTS: dict[str, Callable[[random.Random], float]] = {
    "exponential": lambda rng: rng.expovariate(0.25),
    "log-normal": lambda rng: math.exp(rng.gauss(-1.0, 1.2)),
    "some slow": lambda rng: 6.0 if rng.random() < 0.1 else 0.05 + 0.01 * rng.random(),
    "constant": lambda _: 0.7,
}


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("timeout", [0.5, 2.0, 30.0])
@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
def test_a_full_log_without_timeouts_agrees_in_steady_state(host: str, timeout: float, q: float) -> None:
    """Simulated users at random hosts, watched for 20 s from the middle of a long run.

    Over 40 runs of 30 users the median of the figure is within a tenth of the truth: what both ends cut off cancels
    out. It is a bound where the truth is longer than users wait, or about as long as the measurement.
    """
    answer = HOSTS[host]
    truth = sorted(answer(random.Random(1_000 + number)) for number in range(20_000))[math.ceil(q * 20_000) - 1]
    found = [observed(random.Random(seed), answer, timeout).quantile(q) for seed in range(40)]
    assert None not in found
    values = sorted(each.value if not each.at_least else math.inf for each in found if each)
    middle = values[len(values) // 2]
    assert middle == pytest.approx(truth, rel=0.1) if truth < min(timeout, LONG) else middle >= min(truth, timeout)


def observed(rng: random.Random, answer: Callable[[random.Random], float], timeout: float) -> Waits:
    """What is recorded of 30 users who wait and think for a second by turns, from 100 s to 120 s."""
    found: dict[str, list[float]] = {end: [] for end in ("answered", "timed_out", "unfinished", "begun_before")}
    begin, end = 100.0, 120.0
    for _ in range(30):
        now = rng.random()
        while now < end:
            needs = answer(rng)
            done = now + min(needs, timeout)
            if done > end:
                found["unfinished"].append(end - now)
            elif done > begin:
                found["answered" if needs <= timeout else "timed_out"].append(done - now)
                if now < begin:
                    found["begun_before"].append(begin - now)
            now = done + rng.expovariate(1.0)
    return Waits(**{name: histogram(seconds) for name, seconds in found.items()})


def test_a_host_that_stops_is_seen_although_its_users_were_waiting_before() -> None:
    """Nine users have waited since before the measurement and wait at its end; the tenth is answered at once."""
    found = Waits(histogram([0.05] * 30), unfinished=histogram([35.0] * 9))
    assert [*quantile(found, 0.95)] == [pytest.approx(35.0, rel=BUCKET), True]
