"""Tells whether a new system is faster or slower than the base, as far as the runs can show.

- `comparison`: compares two sides. `sides`: reads the runs of a side, each as one number per figure; `metrics`: which
  figures are compared.
- `comparability`: whether runs are alike enough to be compared.
- `verdict`: one figure on both sides: its ratio, the statistical verdict, and how small a change the runs can detect.
- `versions`: two versions of a program, by pairs of short runs until they tell; `looks`: when the pairs are looked at,
  and how sure each look must be; `paired_figure`: one figure of both versions, and what is claimed of it.
- `stored_side`: a side as data, kept in a file to be compared with later runs.
- `failures`: which side fails more; that side is never faster.
"""
