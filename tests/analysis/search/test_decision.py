"""Decisions on trials that are made up."""

import math
import random
import statistics
from collections import Counter
from dataclasses import replace

import pytest

from cuesta.analysis.search import Method, Outcome, Trial, Try, replay
from tests.analysis.search.searching import BY_USERS, has, late, refused, search, silent, trial


def met(number: int, load: float) -> Trial:
    return trial(number, load, -1.0)


def line(limit: float, slope: float = 3.0):  # type: ignore[no-untyped-def]
    """Trials without noise, whose excess grows in a straight line."""
    return lambda number, ask: trial(number, ask.load, slope * (ask.load / limit - 1))


def test_a_search_doubles_then_looks_near_the_limit_then_confirms() -> None:
    trials, found = search(line(30.5), BY_USERS)
    assert [each.load for each in trials[:4]] == [4, 8, 16, 32]
    assert found.users == 30
    assert found.verdict == "regular"
    assert found.limited_by == "host"
    assert found.certified is not None
    assert [each.load for each in trials[-5:]] == [found.certified] * 5
    assert found.certified <= 30 <= (found.interval[1] or 0)


def test_a_search_resumes_from_its_trials() -> None:
    trials, found = search(line(30.5), BY_USERS)
    again = [replay(trials[:number], BY_USERS).next for number in range(len(trials))]
    assert [ask.load for ask in again if isinstance(ask, Try)] == [each.load for each in trials]
    assert replay(trials, BY_USERS).next == found


def test_the_lowest_load_misses() -> None:
    found = replay([trial(0, 4, 2.0), trial(1, 2, 1.5), trial(2, 1, 1.2)], BY_USERS).next
    assert isinstance(found, Outcome)
    assert (found.users, found.limited_by, found.verdict) == (None, "lowest", "irregular")
    assert found.why == "1 user, the fewest that may be tried, missed the objective already"


def test_a_host_that_one_user_finds_too_slow_is_not_tried_with_every_half() -> None:
    trials, found = search(
        lambda number, ask: trial(number, ask.load, 2.0 + ask.load / 200), replace(BY_USERS, start=96)
    )
    assert [each.load for each in trials] == [96, 48, 1]
    assert found.limited_by == "lowest"


@pytest.mark.parametrize("limit", [2, 5, 20, 40, 90])
def test_a_start_beyond_the_limit_is_halved(limit: int) -> None:
    """Beyond the limit response grows with the load, or is that of a timeout."""
    method = replace(BY_USERS, start=96)
    for most in (5.0, 0.9):
        trials, found = search(lambda number, ask: trial(number, ask.load, min(ask.load / limit - 1, most)), method)  # noqa: B023
        assert limit - 1 - 0.05 * limit <= (found.users or 0) <= limit
        assert found.limited_by == "host"
        assert len(trials) <= 25


def test_trials_on_the_way_to_the_limit_leave_enough_for_it() -> None:
    """A start far beyond the limit at a host whose response varies by a factor of e: halving takes seven trials."""
    method = replace(BY_USERS, highest=2000, start=1000)
    ends, lengths = list[float](), list[int]()
    for seed in range(12):

        def measure(number: int, ask: Try, seed: int = seed) -> Trial:
            return trial(number, ask.load, 3 * math.log(ask.load / 18) + random.Random(f"{seed} {number}").gauss(0, 1))

        trials, found = search(measure, method)
        ends.append(found.interval[1] or math.inf)
        lengths.append(len(trials))
    assert sum(end > 40 for end in ends) <= 2, sorted(ends)
    assert statistics.fmean(lengths) <= 30


def test_nothing_misses() -> None:
    trials, found = search(lambda n, ask: trial(n, ask.load, -1.0), replace(BY_USERS, highest=50, start=10))
    assert [each.load for each in trials] == [10, 20, 40, 50, *[50] * 5]
    assert (found.users, found.certified, found.limited_by, found.verdict) == (50, 50, "highest", "irregular")
    assert found.interval == (50, None)


def test_a_load_that_the_driver_cannot_offer_three_times_is_its_limit() -> None:
    trials, found = search(lambda n, ask: (late if ask.load > 50 else met)(n, ask.load), BY_USERS)
    assert [each.load for each in trials[:7]] == [4, 8, 16, 32, 64, 64, 64]
    assert found.limited_by == "driver"
    assert found.driver_limit == 51
    assert found.certified is not None
    assert 46 <= found.certified <= 50
    assert found.breach is None


def test_a_load_that_the_driver_can_offer_only_sometimes_is_not_confirmed_but_a_lower_one_is() -> None:
    tried: Counter[float] = Counter()

    def measure(number, ask):  # type: ignore[no-untyped-def]
        tried[ask.load] += 1
        is_late = ask.load > 50 or (ask.load > 40 and tried[ask.load] > 1)
        return (late if is_late else met)(number, ask.load)

    trials, found = search(measure, BY_USERS)
    assert found.limited_by == "driver", found
    assert found.driver_limit is not None
    assert 40 < found.driver_limit < 46
    assert found.certified is not None
    assert found.certified == found.users
    assert 36 < found.certified <= 40
    assert len(trials) < 35


@pytest.mark.parametrize(("name", "many"), [("stolen", 7), ("cut_short", 20)])
def test_trials_that_were_disturbed_or_cut_short_are_repeated_until_one_counts(name: str, many: int) -> None:
    def measure(number, ask):  # type: ignore[no-untyped-def]
        spoilt = 3 <= number < 3 + many
        return trial(number, ask.load, ask.load / 30.5 - 1, doubts=["late"] if spoilt else [], **{name: spoilt})

    trials, found = search(measure, BY_USERS)
    assert [each.load for each in trials[: 4 + many]] == [4, 8, 16, *[32] * (many + 1)]
    assert (found.limited_by, found.users) == ("host", 30)


def test_no_load_is_blamed_before_the_host_has_recovered() -> None:
    """Above 20 users it answers nothing, and nothing again until it is tried with few users and waited for."""
    is_frozen = False

    def measure(number, ask):  # type: ignore[no-untyped-def]
        nonlocal is_frozen
        is_frozen = ask.load > 20 or (is_frozen and ask.purpose != "recover")
        return silent(number, ask.load) if is_frozen else trial(number, ask.load, ask.load / 100 - 1)

    trials, outcome = search(measure, BY_USERS)
    assert outcome.limited_by == "host gave out"
    low, high = outcome.interval
    assert has(outcome, 20)
    assert 20 < (high or 0) <= (low or 0) + 4
    assert all(each.load > 20 for each in trials if not each.met)


def test_a_host_that_stays_silent_ends_the_search_with_what_is_known() -> None:
    trials, outcome = search(lambda n, ask: (silent if n > 2 else met)(n, ask.load), BY_USERS)
    assert [each.load for each in trials] == [4, 8, 16, 32, 16]
    assert (outcome.limited_by, outcome.verdict, outcome.interval[0]) == ("host gave out", "irregular", 16)
    assert "did not recover: nothing was answered with 16 users either" in outcome.why


def test_what_was_not_answered_just_after_a_failure_is_tried_again() -> None:
    """With 32 users the host answers some and freezes; it has room for 30."""
    is_frozen = False

    def measure(number, ask):  # type: ignore[no-untyped-def]
        nonlocal is_frozen
        was_frozen = is_frozen and ask.purpose != "recover"
        is_frozen = ask.load > 30 or was_frozen
        if was_frozen:
            return silent(number, ask.load)
        against = ["the host stopped"] if is_frozen else []
        return trial(number, ask.load, -1.0, against=against)

    trials, outcome = search(measure, BY_USERS)
    assert any(each.answers == "none" and each.load <= 30 for each in trials), "such a trial was made"
    assert has(outcome, 30)
    assert outcome.interval[1] != 30


def test_a_recovered_host_need_not_answer_enough_to_count() -> None:
    """One user of a slow tape has few answers, or none: the search goes on with half of the first load."""

    def measure(number, ask):  # type: ignore[no-untyped-def]
        if ask.load >= 30:
            return silent(number, ask.load)
        if ask.purpose == "recover":
            return trial(number, ask.load, None, against=["nothing was measured"], answers="not asked")
        return trial(number, ask.load, -1.0)

    trials, outcome = search(measure, replace(BY_USERS, start=64))
    assert [each.load for each in trials[:5]] == [64, 1, 32, 1, 16]
    assert outcome.limited_by == "host gave out"
    assert 20 < (outcome.interval[0] or 0) < 30


def test_trials_of_other_searches_are_no_recovery() -> None:
    """A folder may have trials that this search would not have asked for."""
    trials = [silent(0, 64), silent(1, 32), trial(2, 16, -1.0)]
    assert isinstance(replay(trials, BY_USERS).next, Try)


def test_a_search_whose_host_had_stopped_goes_on_with_another_try() -> None:
    trials = [trial(0, 16, -1.0), silent(1, 32), silent(2, 16)]
    assert isinstance(replay(trials, BY_USERS).next, Outcome)
    assert replay(trials, BY_USERS).resumed == Try(
        16, "recover", "nothing was answered with 32 users: the host may have to recover"
    )
    assert isinstance(replay([*trials, trial(3, 16, -1.0)], BY_USERS).next, Try)
    silent_again = replay([*trials, silent(3, 16)], BY_USERS)
    assert isinstance(silent_again.next, Outcome)
    assert silent_again.resumed == replay(trials, BY_USERS).resumed, "each time that it goes on"


def test_a_host_that_never_answers_is_tried_once_more_with_the_fewest_users() -> None:
    trials, outcome = search(lambda n, ask: silent(n, ask.load), replace(BY_USERS, start=64))
    assert [each.load for each in trials] == [64, 1]
    assert (outcome.limited_by, outcome.users) == ("lowest", None)


def test_a_search_whose_machine_stays_disturbed_ends_in_doubt_and_blames_nobody() -> None:
    def measure(number, ask):  # type: ignore[no-untyped-def]
        stolen = ask.load > 10
        doubts = ["the hypervisor took 25.0 %"] if stolen else []
        return trial(number, ask.load, -1.0, doubts=doubts, stolen=stolen)

    trials, found = search(measure, BY_USERS)
    assert (found.limited_by, found.driver_limit, found.interval) == ("doubts", None, (8, None))
    assert found.why == "trials with 16 users could not be trusted: the hypervisor took 25.0 %"
    assert len(trials) == 2 + 18


def test_a_driver_that_offered_more_before_is_in_doubt_and_no_limit() -> None:
    def measure(number, ask):  # type: ignore[no-untyped-def]
        return late(number, ask.load) if number > 0 else trial(number, ask.load, ask.load / 150 - 1)

    trials, found = search(measure, replace(BY_USERS, start=400))
    assert [each.load for each in trials] == [400, 200, 200, 200]
    assert (found.limited_by, found.driver_limit) == ("doubts", None)
    assert found.why == "trials with 200 users could not be trusted: the driver was late"


def test_a_host_that_gives_out_is_a_miss_with_its_reason() -> None:
    def measure(number, ask):  # type: ignore[no-untyped-def]
        gone = ["no transaction ended"] if ask.load > 40 else []
        return trial(number, ask.load, None if gone else -1.0, against=gone)

    _, found = search(measure, BY_USERS)
    assert found.limited_by == "host gave out"
    assert 39 <= (found.users or 0) <= 41
    assert (found.users or 0) < (found.breach or 0)
    assert found.certified is not None
    assert found.why == "beyond the limit the host gave out: no transaction ended"


BY_RATE = Method("regression", lowest=0.1, highest=1000, start=5, whole=False)


def test_users_that_are_too_few_for_a_rate_are_not_the_hosts_limit() -> None:
    _, found = search(lambda n, ask: trial(n, ask.load, ask.load / 5 - 4, lacked_users=ask.load > 20), BY_RATE)
    assert (found.limited_by, found.verdict, found.breach) == ("users", "irregular", None)
    assert found.users == pytest.approx(20, rel=0.05)
    assert found.interval[1] is None, "the host may do more"
    assert found.certified is not None


def test_users_that_are_too_few_far_above_the_limit_do_not_excuse_the_host() -> None:
    _, found = search(lambda n, ask: trial(n, ask.load, ask.load / 4 - 3, lacked_users=ask.load > 24), BY_RATE)
    assert (found.limited_by, found.verdict, found.lacks_users) == ("host", "regular", False)


def test_users_that_are_too_few_for_the_lowest_rate_are_not_the_hosts_limit() -> None:
    found = replay([trial(0, 5, 2.0, lacked_users=True), trial(1, 0.1, 1.0, lacked_users=True)], BY_RATE).next
    assert isinstance(found, Outcome)
    assert (found.users, found.interval, found.limited_by) == (None, (None, None), "users")


@pytest.mark.parametrize("excess", [-0.5, -1.0, -2.0, -4.0])
def test_the_answer_for_a_host_that_gives_out_lies_below_what_it_refused(excess: float) -> None:
    """Up to the limit response is far below its bound; beyond it the host refuses."""
    method = replace(BY_USERS, highest=2000, start=16)
    for seed in range(25):
        rng = random.Random(seed)
        limit = rng.randint(18, 400)

        def measure(number, ask):  # type: ignore[no-untyped-def]
            make = refused if ask.load > limit else trial  # noqa: B023
            return make(number, ask.load, excess + rng.gauss(0, 0.1))  # noqa: B023

        trials, found = search(measure, method)
        assert found.users is not None, (limit, found)
        assert found.users < min(each.load for each in trials if each.against), (limit, found)
        assert found.users <= 1.1 * limit, (limit, found)
        assert has(found, limit), (limit, found)
        assert (found.interval[1] or 0) <= 1.2 * limit, (limit, found)
        assert (found.certified or 0) <= limit < (found.breach or 0), (limit, found)


@pytest.mark.parametrize("number", [1, 2, 3, 5])
def test_a_host_that_gives_out_once_by_chance_is_tried_further(number: int) -> None:
    """The limit is 200 users; one trial on the way there is refused."""

    def measure(at, ask):  # type: ignore[no-untyped-def]
        return (refused if at == number else trial)(at, ask.load, 2 * math.log(ask.load / 200))

    _, found = search(measure, replace(BY_USERS, highest=2000, start=16))
    assert found.users == pytest.approx(200, rel=0.05)


def test_an_interrupted_search_says_what_it_knows() -> None:
    found = replay([trial(0, 8, -1.0), trial(1, 16, -0.5)], BY_USERS).conclude("the budget of 10m ended")
    assert (found.users, found.interval, found.limited_by) == (16, (16, None), "budget")
    assert found.why == "the budget of 10m ended"
    assert replay([trial(0, 8, -1.0)], BY_USERS).rows[-1].estimate is None


@pytest.mark.parametrize("rule", ["regression", "rfc9971"])
def test_a_search_for_a_rate(rule: str) -> None:
    method = Method(rule, lowest=0.1, highest=1000, start=1, whole=False, full_length=300)  # type: ignore[arg-type]
    _, found = search(line(7.3), method)
    assert has(found, 7.3)
    assert found.users == pytest.approx(7.3, rel=0.1)


def test_small_misses_at_low_loads_are_not_believed_before_a_larger_one_missed() -> None:
    """By chance all of 1, 2 and 4 users miss by a tenth; the limit is 40."""
    near = iter([0.1, 0.1, 0.05, 0.1])
    trials, found = search(lambda number, ask: trial(number, ask.load, next(near, ask.load / 40 - 1)), BY_USERS)
    assert [each.load for each in trials[:6]] == [4, 2, 1, 1, 8, 16]
    assert found.limited_by == "host"
    assert found.users == pytest.approx(40, abs=2)


def test_small_misses_at_low_loads_are_doubted_once_larger_loads_met() -> None:
    """By chance 4 and 2 users miss by a tenth, and 8 and 16 meet by as little; the limit is 32."""
    by_load = {4: [0.16], 2: [-0.6, 0.1], 8: [-0.06], 16: [-0.09]}

    def measure(number, ask):  # type: ignore[no-untyped-def]
        chance = by_load.get(ask.load)
        return trial(number, ask.load, chance.pop(0) if chance else min(ask.load / 32 - 1, 1.0) or -0.001)

    trials, found = search(measure, BY_USERS)
    assert [each.load for each in trials[:6]] == [4, 2, 8, 16, 32, 64]
    assert found.users == pytest.approx(32, abs=2)


def test_a_load_that_never_settles_is_no_host_that_gave_out() -> None:
    def measure(number, ask):  # type: ignore[no-untyped-def]
        restless = ask.load > 20
        doubts = ["the response had not settled"] if restless else []
        return trial(number, ask.load, -0.5, doubts=doubts, settled=not restless)

    _, found = search(measure, BY_USERS)
    assert found.limited_by == "host"
    assert found.verdict == "irregular"
    assert found.breach is None, "below the limit, however restless, is no miss that was shown"


@pytest.mark.parametrize(
    ("beyond", "breach"),
    [
        ([refused(2, 32)], None),  # one may be chance
        ([refused(2, 32), refused(3, 32)], 32),
        ([refused(2, 24), refused(3, 32)], 32),  # what 24 cannot do 32 cannot
        ([refused(2, 24), trial(3, 28, -0.5), trial(4, 29, -0.5), refused(5, 32)], None),
        ([trial(2, 32, 0.25)], None),  # 25 % may be chance
        ([trial(2, 32, 0.35)], 32),
        ([trial(2, 32, 0.25), trial(3, 32, 0.25)], 32),
        ([refused(2, 24), trial(3, 64, 2.0)], 64),
    ],
)
def test_a_breach_is_a_bound_on_the_excess_or_two_trials_that_gave_out(
    beyond: list[Trial], breach: float | None
) -> None:
    found = replay([trial(0, 8, -1.0), trial(1, 16, -0.5), *beyond], BY_USERS).conclude("time ran out")
    assert found.breach == breach


def test_a_search_that_confirms_nothing_is_irregular_and_says_so() -> None:
    """Confirming trials differ so much that their bound is above the limit, as low as the search goes."""
    noisy = iter([-0.3, 0.28] * 20)

    def measure(number, ask):  # type: ignore[no-untyped-def]
        return trial(number, ask.load, next(noisy) if ask.purpose == "confirm" else 3 * (ask.load / 30.5 - 1))

    _, found = search(measure, BY_USERS)
    assert (found.limited_by, found.certified, found.verdict) == ("host", None, "irregular")
    assert found.why.startswith("no load could be confirmed, neither ")


def test_the_interval_ends_with_the_loads_that_may_be_tried() -> None:
    method = replace(BY_USERS, highest=100, start=32)
    trials = [trial(0, 32, -1.0), trial(1, 64, -0.3), trial(2, 100, 0.01)]
    estimate = replay(trials, method).rows[-1].estimate
    assert estimate is not None
    assert estimate.high > 100
    found = replay(trials, method).conclude("time ran out")
    assert found.interval == (64, 100)
    assert found.users is not None
    assert found.users <= 100


def test_an_interval_that_reaches_below_the_lowest_load_begins_at_none() -> None:
    method = Method("regression", lowest=5, highest=100, start=5, whole=False)
    trials = [trial(0, 5, -0.01), trial(1, 10, 0.4), trial(2, 5, 0.01)]
    estimate = replay(trials, method).rows[-1].estimate
    assert estimate is not None
    assert estimate.low < 5
    assert replay(trials, method).conclude("time ran out").interval[0] == 0
