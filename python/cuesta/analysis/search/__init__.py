"""Chooses the loads that a search tries, and derives its result.

- `replay`: all trials so far, replayed: the one door to the next trial and the result. `decision`: the rules for that.
- `method`: the settings of a search; `outcome`: the next trial, the result, and where the limit is believed to be.
- `trial`: the steps of a run folder, judged; `objections`: what counts against a trial besides the limits.
- `user_pool`: whether a trial of an open load missed only for want of users.
- `history`: which trials count, confirm, or show the driver's limit. `conclusion`: the result of a history.
- `constancy`: whether the host still does what it did at first.
- `by_regression`: doubling, a fit near the limit, confirmation; `regression`: the fit.
- `search_result`: a search as its run folder records it, for reports and `--json`.
- `state`: how far a search is, for those who watch it.
- `rfc9971`: the classification of loads by RFC 9971, and the search that uses it.
"""

from cuesta.analysis.search.method import Method, recorded_rate
from cuesta.analysis.search.outcome import Outcome, Try
from cuesta.analysis.search.replay import TrialRow, replay
from cuesta.analysis.search.search_result import SearchResult, search_result
from cuesta.analysis.search.state import first_state, search_state
from cuesta.analysis.search.trial import Trial

__all__ = [
    "Method",
    "Outcome",
    "SearchResult",
    "Trial",
    "TrialRow",
    "Try",
    "first_state",
    "recorded_rate",
    "replay",
    "search_result",
    "search_state",
]
