"""Systems over the years: the ledger of releases and goals, and tables typed from documents.

- `ledgers`: which systems stand in one ledger; `certified`: the elapsed time of a certified system; `projection`:
  goals, and what planned improvements would make of the last system.
- `identities`: what must agree among printed values, and what to think where it does not. `transcript`: the prints as
  they are read; `formula` and `functions`: the formulas over them; `quantity`: a printed number and its bounds.
"""
