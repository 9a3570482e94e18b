"""The ledger of systems, improvements and goals; and tables typed from documents.

- `ledgers`: groups systems into ledgers, with their elapsed times; `projection`: the elapsed time with planned
  improvements, and the probability to meet a goal.
- `identities`: checks the identities among printed values. `transcript`: the prints with their readings; `formula`: the
  formulas over them; `table_points`: rows of a typed table as points of a prediction.
"""
