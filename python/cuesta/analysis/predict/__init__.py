"""From measured rows to a fitted model, and from it to other loads; or a refusal, where the data cannot tell.

- `points`: a measured row, and the conditions of a load; `from_runs` reads rows of run folders, `history.table_points`
  those of typed tables. `selection` reads the conditions of `--fit` and `--at`; `meters` rejects impossible meters and
  makes stations of the others.
- `forms`: the ways in which a response may depend on the load, one file each; `candidates`: those that rows may have.
  `fitting` fits one to rows, `band` gives the interval of what it predicts, `choice` selects among all of them.
- `prediction`: predicts loads, or says why a figure is withheld; `held_out`: the error at rows that were not fitted;
  `transfer`: one configuration from another.
- `saturation`: the saturation point by the response and by the meters, and whether they disagree. `what_if`: all that
  was asked: loads, the saturation point and the users that a limit allows, with `changes` or without.
- `simulate`: the simulations that were asked for. `workload`: what simulated users do; `pace`: their think and keying
  times; `simulation`: one load at the stations of a model; `simulated_limit`: how many users keep a percentile.
"""
