"""What holds for any trials, however absurd."""

from typing import Any, get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from cuesta.analysis.search import Method, Outcome, Trial, Try, replay
from cuesta.analysis.search.decision import MOST_CHECKS, trial_budget
from cuesta.analysis.search.method import Rule

EXCESSES = st.none() | st.floats(-7, 7) | st.sampled_from([-1.0, -0.01, 0.0, 1e-9, 0.01, 1.0])
REASONS = st.sampled_from([[], [], [], ["3 % of the transactions failed"]])


@st.composite
def methods(draw: st.DrawFn) -> Method:
    whole = draw(st.booleans())
    loads = st.integers(1, 5000).map(float) if whole else st.floats(0.01, 5000)
    lowest, start, highest = sorted(draw(st.tuples(loads, loads, loads)))
    return Method(
        rule=draw(st.sampled_from(get_args(Rule))),
        lowest=lowest,
        highest=highest,
        start=start,
        whole=whole,
        tries_again=draw(st.booleans()),
        confirmations=draw(st.integers(2, 6)),
        most_trials=draw(st.integers(1, 14)),
        full_length=draw(st.sampled_from([30.0, 60.0])),
    )


@st.composite
def verdicts(draw: st.DrawFn) -> dict[str, Any]:
    """Everything about a trial but its number and load."""
    excess, against = draw(EXCESSES), draw(REASONS)
    settled = draw(st.booleans())
    doubts = draw(st.sampled_from([[], [], [], [], ["the driver was late"], ["the response had not settled"]]))
    return {
        "excess": excess,
        "against": against,
        "met": excess is not None and excess <= 0 and not against,
        "doubts": doubts,
        "is_driver_limit": doubts == ["the driver was late"],
        "settled": settled,
        "seconds": draw(st.sampled_from([0.5, 30.0])),
    }


@settings(deadline=None, max_examples=50)
@given(methods(), st.data())
def test_a_search_stays_within_its_loads_and_ends(method: Method, data: st.DataObject) -> None:
    """Each answer is drawn, whatever was asked; the last ones are repeated until the search ends."""
    answers = data.draw(st.lists(verdicts(), min_size=1, max_size=30))
    trials: list[Trial] = []
    while isinstance(ask := replay(trials, method).next, Try):
        assert method.lowest <= ask.load <= method.highest
        assert not method.whole or ask.load == int(ask.load)
        assert ask.because
        trials.append(Trial(len(trials), ask.load, **answers[len(trials) % len(answers)]))
        assert len(trials) <= trial_budget(method) + MOST_CHECKS
    check(ask, trials)


@settings(deadline=None, max_examples=80)
@given(methods(), st.lists(st.tuples(st.floats(0.01, 9000), verdicts()), max_size=40), st.booleans())
def test_trials_that_were_never_asked_for_lead_to_an_answer(
    method: Method, given_: list[tuple[float, dict[str, Any]]], whole: bool
) -> None:
    trials = [
        Trial(number, float(int(load) + 1) if whole else load, **verdict)
        for number, (load, verdict) in enumerate(given_)
    ]
    ask = replay(trials, method).next
    if isinstance(ask, Try):
        assert method.lowest <= ask.load <= method.highest
    check(replay(trials, method).conclude("time ran out"), trials)


def check(found: Outcome, trials: list[Trial]) -> None:
    low, high = found.interval
    assert found.trials <= len(trials)
    assert found.why
    assert low is None or high is None or low <= high
    if found.users is not None:
        assert found.breach is None or found.breach > found.users
    if found.certified is not None:
        assert found.breach is None or found.breach > found.certified
        assert any(trial.load == found.certified and trial.met for trial in trials)
    if found.verdict == "regular":
        assert None not in (low, high)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(1, 60), verdicts()), min_size=2, max_size=15), st.randoms())
def test_what_is_believed_does_not_depend_on_the_order_of_trials(
    given_: list[tuple[int, dict[str, Any]]], random: Any
) -> None:
    """Trials in doubt say something by their order alone, so all of these count."""
    method = Method("regression", lowest=1, highest=60, start=4, whole=True)
    trials = [Trial(n, float(load), **verdict | {"doubts": []}) for n, (load, verdict) in enumerate(given_)]
    mixed = random.sample(trials, len(trials))
    assert replay(trials, method).rows[-1].estimate == replay(mixed, method).rows[-1].estimate


@settings(deadline=None, max_examples=60)
@given(st.permutations([-0.4, -0.3, -0.1, -0.25, -0.35]))
def test_the_order_of_confirming_trials_does_not_matter(excesses: list[float]) -> None:
    method = Method("regression", lowest=1, highest=16, start=16, whole=True)
    first = Trial(0, 16.0, -0.2, True, [], [], False, True, 60.0)
    confirming = [Trial(n + 1, 16.0, each, True, [], [], False, True, 60.0) for n, each in enumerate(excesses)]
    found = replay([first, *confirming], method).next
    assert isinstance(found, Outcome)
    assert found.certified == 16
