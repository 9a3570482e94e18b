"""The help and the arguments of each verb: ABOUT, EXAMPLES, `add_arguments`; `with_word` if a word may be left out.

They import nothing slow, so that `--help` is quick.

`flags`: the flags that set settings of plans; `setting_flags` adds them.

`run`, `search`, `certify`, `compare`, `predict`, `ledger`, `live`, `report`, `host`, `meters`, `tmux`, `record`,
`tapes`, `check`.
"""
