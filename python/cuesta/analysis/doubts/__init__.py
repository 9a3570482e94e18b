"""Why a run cannot be trusted: a run is valid if nothing here finds a reason to doubt it.

- `table`: the doubts about a step, a function for each; `nodes`: those about single agents; `whole_run`: those about a
  record. `phrases`: what several say.
- `doubt`: what all have: text, advice, whom it blames, and what it means for limits and for a trial of a search.
"""

from cuesta.analysis.doubts import nodes, table  # noqa: F401, their functions register themselves
from cuesta.analysis.doubts.doubt import Doubt, find_run_doubts, find_step_doubts, select_driver_doubts
from cuesta.analysis.doubts.whole_run import agent_failed

__all__ = ["Doubt", "agent_failed", "find_run_doubts", "find_step_doubts", "select_driver_doubts"]
