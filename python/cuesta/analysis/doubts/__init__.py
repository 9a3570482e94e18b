"""Why a run cannot be trusted: a run is valid if nothing here finds a reason to doubt it.

- `table`: the doubts, a function for each. `phrases`: what several of them say.
- `doubt`: what all have: text, advice, whom it blames, and what it means for limits and for a trial of a search.
"""

from cuesta.analysis.doubts.doubt import Doubt, of_the_driver
from cuesta.analysis.doubts.table import agent_failed, doubts_of_run, doubts_of_step

__all__ = ["Doubt", "agent_failed", "doubts_of_run", "doubts_of_step", "of_the_driver"]
