"""Tells whether a new system is faster or slower than the base, as far as the runs can show.

- `comparison`: compares two sides. `sides`: reads the runs of a side, each as one number per figure; `metrics`: which
  figures are compared.
- `comparability`: whether runs are alike enough to be compared.
- `verdict`: the statistical verdict on each figure; `power`: how small a change a number of runs can detect.
"""
