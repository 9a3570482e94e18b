"""The command `cuesta`, one file per verb.

- `main`: which verb, and what becomes of errors. `verbs`: the help and the arguments of each, quick to load; `flags`:
  those that settings of plans have. The modules below carry the verbs out.
- `run`: users type at a host; `dry_run`: the same, only shown.
- `host`: the built-in host, for others to type at.
- `check`: how a tape or a plan is understood.
- `record`: a person's session becomes a tape; `loop`: one whose users stay.
- `report`: what lies in run folders, shown again.
- `certify`: a plan played again and again; `verify`: a record held against its raw files.
- `compare`: two sides of runs; `interleave`: makes them, pair by pair.
- `ledger`: all certified systems; `sql`: queries over all runs.
- `meters`: this host, by hand. Its modes: `meter_rows`; `tty_meters`, of a run folder; `profile`, CPU time by
  function; `saved_interval`, an interval of the caller's own; `service`, a live service's profile.
- `output`: where `--json` goes; `interrupts`: Ctrl-C, and its likes.

Results go to standard output, everything else to standard error. The exit codes are `cuesta.errors.Exit`.
"""

from cuesta.cli.main import main

__all__ = ["main"]
