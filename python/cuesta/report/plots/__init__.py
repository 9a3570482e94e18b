"""The plots of a report: functions from figures to specifications; none where there is nothing to draw.

- `spec`: pieces of Vega-Lite that the plots share: axes, lines with the values at the cursor, legends that choose.
- `over_time`: the course of a run. `distributions`: histograms and percentile curves. `path`: the way of followed keys.
- `against_users`: sweeps, with their asymptotes. `against_load`: the trials of a search.
  `versions`: two versions of a program.
  `causes`: CPU time by cause, a bar for each system. `beside_cast`: the course of a run beside a user's session.
"""
