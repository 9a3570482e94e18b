"""Tells whether a new system is faster or slower than the base, as far as the runs can show.

- `comparison`: compares two sides. `sides`: reads the runs of a side, each as one number per figure; `metrics`: which
  figures are compared.
- `comparability`: whether runs are alike enough to be compared.
- `verdict`: one figure on both sides: its ratio, the statistical verdict, and how small a change the runs can detect.
- `failures`: which side fails more; that side is never faster.
"""
