"""From records to figures: tables in, tables out. Nothing here drives anything, writes anything or reads a clock.

- `summary`: all figures of a run folder, the object that `--json` prints. `step`: the figures of one step.
- `waits`: what was answered and what was not, as one distribution; `answer_sizes`: how long answers are; `frames`: what
  is drawn for each key.
- `doubts`: why a run cannot be trusted; `stationarity`: whether it had settled; `stalls`: whether all users waited at
  once; `delayed_ack`: whether a hop holds back the end of echoes; `overload`: whether an open or paced load was above
  what the host can do; `unsteady`: why there is no steady state; `own_part`: which durations are the driver's in
  part; `certainty`: Student's t, the standard errors of a rate and a mean.
- `diagnosis`: causes by name: which limit or setting of the host made lines fail or users wait.
- `limits`: compares limits with measured values; `published`, `published_tables`: put published figures beside measured
  ones; `planned`: what the plan says about a step.
- `law`: the interactive response-time law; `fairness`: whether users were served alike; `host_figures`: the host's own
  meters; `front_end`: `tty_meters` of the built-in host; `rows_within`: the rows of the host's meters that a
  measurement interval covers; `neighbour`: what ran beside it; `probe`: what users apart saw of the same host;
  `driver_load`: what driving cost; `watching`: marks, held starts, and what watching cost; `odd_nodes`: which of
  several nodes differs from the others.
- `features`: what one study needs, such as TMux: figures and doubts of its own, known by nobody else.
- `over_time`: the course of a run, for plots; `causes`: the host's CPU time by use and by cause.
- `path`: where the time of followed keys goes, hop by hop.
- `capacity`: what limits the host; `past_saturation`: whether throughput fell when more was offered.
- `hodges_lehmann`: exact estimates, intervals and tests over runs; `representative`: how far a run's mix of work is
  from a live service's.
- `search`: which load a search tries next, and what it found.
- `certify`, `compare`, `history`: one package for each question about several runs. `compare` imports `certify`,
  never the reverse.
- `models`: queueing theory. It imports nothing of the analysis. `predict`: fits models to runs and typed tables.
- `sql_rows`: runs and certifications as rows of the ledger's database. `quantity`: interval arithmetic on numbers that
  were rounded or measured.

This file imports none of them: a verb loads what it needs.
"""
