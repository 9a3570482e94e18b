"""From records to figures: tables in, tables out. Nothing here drives anything, writes anything or reads a clock.

- `summary`: a run folder, summed up: what `--json` prints.
- `figures`: the figures of one step, as types; `step`: how they come about.
- `distribution`: a distribution of durations, as a row of a table.
- `validity`: why a run cannot be trusted; `answering`: what the host did not do; `settled`: whether it had settled.
- `limits`: limits, held against what was measured; `published`: what others measured, beside it; `planned`: what the
  plan says.
- `law`: the interactive response-time law; `fairness`: whether users were served alike; `host`: the host's own meters;
  `front_end`: `tty_meters` of the built-in one.
- `over_time`: the course of a run, for plots; `causes`: the host's CPU time by use and by cause;
  `asymptotes`: what no sweep exceeds.
- `comparison`: two sides of runs, compared. `sides`: what a side is; `replicate`: what a run gives to it;
  `likeness`: what must be alike; `verdict`: what the numbers allow to say; `hodges_lehmann`: exact intervals;
  `power`: how small a change so many runs find; `relative`: the performance relative to a reference.
- `sampled`: figures that rest on samples; `certainty`: how sure a rate is.
- `certification`: a certification's record; `agreement`: whether what is written agrees. `trial`: one run of it;
  `phases`: which CPU time belongs to which phase; `breakdown`: MPL-17's part IV; `kinds`: its kinds of faults;
  `of_phase`: a run's figures of a phase; `seen`: part d; `apart`: the runs for one figure each; `grade`: what it may be
  called; `absentee`: whether a benchmark is to be believed.
- `representative`: how far a run's mix of work is from a live service's.
- `identities`: what must agree among printed values, and what to think where it does not; of `quantity` (a print),
  `formula` and `functions`, `transcript` (prints as they are read), `readings` and `mending` (what else they may say).
- `projection`: goals, compounded; `ledgers`: which systems stand in one ledger; `certified`: a system's elapsed time.
- `sql_rows`: runs and certifications as rows of the ledger's database.
"""

from cuesta.analysis.summary import Summary, summarise

__all__ = ["Summary", "summarise"]
