"""From records to figures: tables in, tables out. Nothing here drives anything, writes anything or reads a clock.

- `summary`: a run folder, summed up: what `--json` prints. `step`: the figures of one step.
- `validity`: why a run cannot be trusted; `answering`: what the host did not do; `stationarity`: whether it had
  settled; `certainty`: how sure a rate is.
- `limits`: limits, beside what was measured; `published`: what others measured, beside it; `planned`: what the plan
  says.
- `law`: the interactive response-time law; `fairness`: whether users were served alike; `host`: the host's own meters;
  `front_end`: `tty_meters` of the built-in host.
- `over_time`: the course of a run, for plots; `causes`: the host's CPU time by use and by cause;
  `asymptotes`: what no sweep exceeds.
- `hodges_lehmann`: exact estimates, intervals and tests over runs; `representative`: how far a run's mix of work is
  from a live service's.
- `certify`, `compare`, `history`: one folder for each question that is asked of several runs. `compare` imports
  `certify`, never the other way.
- `sql_rows`: runs and certifications as rows of the ledger's database.
"""

from cuesta.analysis.summary import Summary, summarise

__all__ = ["Summary", "summarise"]
