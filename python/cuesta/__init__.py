"""Cuesta: how many people can use this system at once, and how will it feel to type on it?

Python says what is to be done and reads what was recorded; it never sits on the keystroke path.

- `cli`: the command `cuesta`, one file per verb.
- `figures`: the catalogue: every number that Cuesta gives, declared once.
- `plan`: what is to be run, parsed from TOML, environment and flags.
- `engine`: turns a plan into a run folder.
- `ledger`, `analysis`, `report`: read a run folder, derive from it, show it.
- `live`: looks at a run while it goes on.
- `target`: what a target is; `line_kinds`: the table of kinds of lines, from the Rust half.
- `errors`: what goes wrong, and the exit codes; `units`: how figures are written for people.
- `machine`: what machine this is, for the record.
- `_native`: the Rust half.
"""

__version__ = "0.1.0"
