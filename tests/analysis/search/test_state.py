import json
from pathlib import Path

from cuesta.analysis.search import Method, Try, first_state, search_state
from cuesta.analysis.summary import summarise
from cuesta.records.observation import SearchState
from cuesta.records.reading import from_json, to_row
from tests.report import made_up


def state_of(folder: Path) -> SearchState:
    summary = summarise(folder)
    assert summary.search
    return search_state(summary, summary.search.replay.next)


def test_each_trial_has_what_was_measured_and_the_interval_after_it(tmp_path: Path) -> None:
    state = state_of(made_up.search(tmp_path / "run"))
    assert [trial.load for trial in state.trials] == list(made_up.TRIALS)
    first, *_, fifth = state.trials[:5]
    assert (first.number, first.users, first.kept, first.low, first.high) == (1, 4, True, 4.0, None)
    assert (first.limit, first.unit) == ("response.p95 < 2s", "s")
    assert first.value is not None
    assert first.ratio is not None
    assert abs(first.ratio - first.value / 2) < 1e-9, "of its bound"
    assert first.choice
    assert (first.choice.purpose, first.choice.because) == ("bracket", "the first load")
    assert fifth.kept is None, "the driver was busy in it"
    assert fifth.notes
    assert [trial.kept for trial in state.trials[5:7]] == [False, True]


def test_the_interval_narrows_and_its_last_is_that_of_the_search(tmp_path: Path) -> None:
    state = state_of(made_up.search(tmp_path / "run"))
    spans = [(trial.low, trial.high) for trial in state.trials]
    assert spans[:3] == [(4.0, None), (8.0, None), (16.0, None)], "until a trial misses there is no upper end"
    widths = [high - low for low, high in spans if low is not None and high is not None]
    assert widths[-1] < widths[0] / 2
    assert (state.low, state.high) == spans[-1]
    assert state.limit is not None
    assert state.low is not None
    assert state.high is not None
    assert state.low <= state.limit <= state.high


def test_a_search_that_ended_says_why_and_one_that_goes_on_what_comes_next(tmp_path: Path) -> None:
    ended = state_of(made_up.search(tmp_path / "ended"))
    assert ended.next is None
    assert ended.ended
    going = state_of(made_up.search(tmp_path / "going", made_up.TRIALS[:6]))
    assert going.ended is None
    assert going.next
    assert going.next.because


def test_a_state_is_plain_data_that_can_be_read_back(tmp_path: Path) -> None:
    state = state_of(made_up.search(tmp_path / "run"))
    text = json.dumps(to_row(state))
    assert json.dumps(to_row(from_json(SearchState, json.loads(text)))) == text


def test_before_its_first_trial_a_search_has_a_load_and_nothing_else() -> None:
    method = Method(rule="regression", lowest=1, highest=500, start=4, whole=True)
    state = first_state(method, ["echo.p95 < 1s"], Try(4.0, "bracket", "the first load"))
    assert (state.load, state.trials, state.low, state.high) == ("users", (), None, None)
    assert state.next
    assert state.next.load == 4.0
