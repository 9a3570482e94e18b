"""The command `cuesta`, one file per verb.

- `main`: finds the verb, calls it and prints errors. `parser`: parses a command line. `verbs`: help and arguments of
  each verb, quick to load; `options`: what a command line sets. The modules below carry the verbs out.
- `run`: emulates users who type at a host.
- `search`: finds the largest load that meets an objective, trial by trial.
- `host`: runs the built-in host for other programs to type at.
- `check`: prints how Cuesta reads a tape or a plan.
- `tapes`: lists the tapes that ship with Cuesta.
- `record`: makes a tape of a person's session.
- `report`: shows the results in run folders again.
- `live`: serves pages of what is below some folders.
- `certify`: certifies a system by repeated runs.
- `compare`: compares two sides of runs; `compare_versions`: two versions of a program.
- `predict`: predicts other loads from runs or from a typed table.
- `ledger`: lists all certified systems; `sql`: queries all runs.
- `meters`: meters this machine. Its modes: `meter_rows`, a row per interval; `tty_meters`, the built-in host's meters
  from a run folder; `profile`, CPU time by function; `saved_interval`, an interval that the caller began with an
  earlier command.
- `tmux`: runs an agent of TMux, asks it, ends it; `tmux_last_error`: by what error the last one ended.
- `output`: writes results, as text and as JSON; `control`: watches and stops what a verb runs;
  `interrupts`: handles Ctrl-C, SIGTERM and SIGHUP; `questions`: warns and asks the person at the terminal.

Results go to standard output, everything else to standard error. The exit codes are `cuesta.errors.Exit`.
"""

from cuesta.cli.main import main

__all__ = ["main"]
