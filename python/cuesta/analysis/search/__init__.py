"""Which load to try next, and what was found: pure functions of all trials so far.

- `decision`: the next trial, or the result; a search that was killed resumes from its trials.
- `method`: the settings of a search; `outcome`: what it says: try this, found that, believed so far.
- `trial`: the steps of a run folder, judged; `objections`: what counts against a trial besides the limits.
- `user_pool`: whether a trial of an open load missed only for want of users.
- `history`: which trials count, confirm, or show the driver's limit. `conclusion`: the result of a history.
- `constancy`: whether the host still does what it did at first.
- `by_regression`: doubling, a fit near the limit, confirmation; `regression`: the fit; `confirmation`: the bound that
  certifies a load.
- `search_result`: a search as its run folder tells it, for reports and `--json`.
- `rfc9971`: the classification of loads by RFC 9971, and the search that uses it.
"""

from cuesta.analysis.search.decision import belief, conclude, decide, go_on
from cuesta.analysis.search.method import Method, recorded_rate
from cuesta.analysis.search.outcome import Belief, Outcome, Try
from cuesta.analysis.search.search_result import SearchResult, search_result
from cuesta.analysis.search.trial import Trial, trials_of

__all__ = [
    "Belief",
    "Method",
    "Outcome",
    "SearchResult",
    "Trial",
    "Try",
    "belief",
    "conclude",
    "decide",
    "go_on",
    "recorded_rate",
    "search_result",
    "trials_of",
]
