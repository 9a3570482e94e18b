"""Is a new system faster or slower than the base, as far as runs can tell.

- `comparison`: two sides, compared. `sides`: the runs of a side, read; `run_sample`: one run, as one number per figure;
  `metrics`: which figures.
- `comparability`: whether runs are alike enough to be compared.
- `verdict`: the statistical verdict on each figure; `hodges_lehmann`: exact estimates, intervals and tests; `power`:
  how small a change a number of runs finds.
- `representative`: how far a run's mix of work is from a live service's.
"""
