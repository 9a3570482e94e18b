"""From measured points to a fitted model, and from it to other points; or a refusal, where the data cannot tell.

- `points`: a measured row, and the conditions that a question is about. `from_runs` and `from_table` read them;
  `meters` rejects impossible meters; `selection` reads the conditions of `--fit` and `--at`.
- `forms`: the ways in which a response may depend on the load, one file each. `fitting` fits one to rows, `band` gives
  the interval of what it predicts, `service` tells whether services are known to be fixed, `choice` fits all forms and
  takes the simplest adequate one.
- `prediction`: answers the questions, or says why a figure is not reported; `held_out`: the error at rows that were not
  fitted; `transfer`: one configuration from another; `remarks`: what the laws say about rows that the model misses.
- `saturation`: the saturation point by the response and by the meters, and whether they disagree. `what_if`: the
  saturation point and other loads with the `changes` that were asked for, and the users that a limit allows; `answer`:
  all that was asked.
- `simulate`: the simulations that were asked for. `workload`: what simulated users do; `pace`: their think and keying
  times; `simulation`: one load at the stations of a model; `simulated_limit`: how many users keep a percentile.
"""
