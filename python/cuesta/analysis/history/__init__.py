"""The ledger of systems, improvements and goals; and checks of tables typed from documents.

- `ledgers`: groups systems into ledgers, with their elapsed times; `projection`: the elapsed time with planned
  improvements, and the chance to meet a goal.
- `identities`: checks the identities among printed values. `transcript`: the prints with their readings; `formula`: the
  formulas over them; `quantity`: a printed number and its bounds.
"""
