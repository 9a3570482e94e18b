"""What each verb does, from settings to a finished folder: settings → job → engine → figures → page.

The command and the library both call it. Nothing here prints, handles signals, reads the environment or ends the
process.

- `library`: what `import cuesta` offers.
- `measure`: runs a plan; `dry_run`: what a run would do, as text and as data; `run_result`: what a finished run tells;
  `control`: how a caller watches and stops a run.
- `leftovers`: what a run that was killed may have left at web terminals.
- `find_limit`: searches for the largest load that meets an objective; `objective`: whether a search can find it;
  `resumed_search`: the plan and the method of a search that goes on.
- `compare_runs`: compares two sides of runs; `run_pairs`: makes them, two plans in turn, pair by pair.
- `compare_versions`: compares two versions of a program, in pairs of short runs until they tell; `make_versions`:
  makes them; `version_names`: what the versions are called; `rehearsal`: how long the runs must be, and
  whether the program can be typed at; `neighbours`: what runs beside the users of one side.
- `predict_loads`: predicts other loads from runs or from a typed table.
- `service_profile`: records what a live service does, and holds a run against it.
- `query_ledger`: rows of all runs, by SQL, as Arrow.
- `web_pages`: which kind of web terminal is at a page's address; `page_kinds`: the table of how they are recognized.
- `check_tape`: how Cuesta reads a tape or a plan.
- `list_tapes`: the tapes that ship with Cuesta.
- `certify_system`: certifies each group of a plan by repeated runs; `verify`: compares a record with its
  raw files, and typed tables with their identities; `list_systems`: certified systems and planned improvements.
- `loop_tape`: makes a recorded tape repeat without logging in again.
"""
