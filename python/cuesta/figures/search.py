"""The figures of a search: what `cuesta search` found, by all of its trials."""

from collections.abc import Sequence

from cuesta.figures.about import Unit, declare, figure_table


@figure_table
class SearchFigures:
    """The largest load that meets an objective. Loads are users, or arrivals a second where a rate was searched."""

    objective: list[str] = declare("the limits that the load should meet")
    load: str = declare("what was searched: `users` or `rate`")
    users: float | None = declare(
        "the largest number of users, or the largest rate, that meets the objective; None: none was seen to", Unit.COUNT
    )
    interval: Sequence[float | None] = declare(
        "with 90 % the limit lies between these two, on the machine as it was during the search; None: no trial "
        "bounds it on that side"
    )
    certified: float | None = declare(
        "the largest load whose confirming trials, consecutive steps of this one run, show with 95 % that it meets "
        "the objective",
        Unit.COUNT,
    )
    breach: float | None = declare(
        "the smallest load that was shown, with 95 %, to miss the objective: by a bound on what was measured, or "
        "by two trials that failed for another reason",
        Unit.COUNT,
    )
    trials: int = declare("trials that were made, with those that were repeated", Unit.COUNT)
    verdict: str = declare(
        "`regular`, or `irregular`: the limit was not bounded from both sides, no load was confirmed, or the "
        "search was cut short"
    )
    limited_by: str = declare(
        "what ended the search: `host`, `host gave out`, `driver`, `users` (too few for the rate), `highest` or "
        "`lowest` (of the loads that may be tried), `budget` (of time), `doubts`, or `changed` (the host, for good)"
    )
    why: str = declare("why it ended so, or what confirms the result", sentence=True)
