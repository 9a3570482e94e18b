"""The figures of a search: what `cuesta search` found, by all of its trials."""

from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Unit


@dataclass(frozen=True, slots=True)
class SearchFigures:
    """The largest load that meets an objective. Loads are users, or arrivals a second where a rate was searched."""

    objective: Annotated[list[str], About("the limits that the load should meet")]
    load: Annotated[str, About("what was searched: `users` or `rate`")]
    users: Annotated[
        float | None,
        About(
            "the largest number of users, or the largest rate, that meets the objective; None: none was seen to",
            Unit.COUNT,
        ),
    ]
    interval: Annotated[
        list[float | None],
        About(
            "with 90 % the limit lies between these two, on the machine as it was during the search; None: no trial "
            "bounds it on that side"
        ),
    ]
    certified: Annotated[
        float | None,
        About(
            "the largest load whose confirming trials, consecutive steps of this one run, show with 95 % that it meets "
            "the objective",
            Unit.COUNT,
        ),
    ]
    breach: Annotated[
        float | None,
        About(
            "the smallest load that was shown, with 95 %, to miss the objective: by a bound on what was measured, or "
            "by two trials that failed for another reason",
            Unit.COUNT,
        ),
    ]
    trials: Annotated[int, About("trials that were made, with those that were repeated", Unit.COUNT)]
    verdict: Annotated[
        str,
        About(
            "`regular`, or `irregular`: the limit was not bounded from both sides, no load was confirmed, or the "
            "search was cut short"
        ),
    ]
    limited_by: Annotated[
        str,
        About(
            "what ended the search: `host`, `host gave out`, `driver`, `users` (too few for the rate), `highest` or "
            "`lowest` (of the loads that may be tried), `budget` (of time), `doubts`, or `changed` (the host, for good)"
        ),
    ]
    why: Annotated[str, About("why it ended so, or what confirms the result", sentence=True)]
