"""The help and the arguments of each verb: ABOUT, EXAMPLES, `add_arguments`. They load nothing that takes long.

`run`, `certify`, `compare`, `ledger`, `report`, `host`, `meters`, `record`, `check`.
"""
