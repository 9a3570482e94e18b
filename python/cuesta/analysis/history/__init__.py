"""Systems over the years: the ledger of releases and goals, and tables typed from documents.

- `ledgers`: which systems stand in one ledger, and their elapsed times; `projection`: goals, and what planned
  improvements would make of the last system.
- `identities`: checks what must agree among printed values. `transcript`: the prints as they are read; `formula`: the
  formulas over them; `quantity`: a printed number and its bounds.
"""
