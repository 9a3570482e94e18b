"""The help and the arguments of each verb: ABOUT, EXAMPLES, `add_arguments`.

They import nothing slow, so that `--help` is quick.

`run`, `certify`, `compare`, `ledger`, `report`, `host`, `meters`, `record`, `check`.
"""
