"""The engine: turns a plan into a run folder. Importing it loads nothing: its processes start quickly.

- `tapes`, `users`: read the files that the plan names, before anything is started; `passphrases`: of key files.
- `job`: a plan with its tapes and users, checked; how long it takes.
- `plan_warnings`: mistakes that the plan, its tapes and its targets show before a run: shared files, a short `settle`.
- `ssh`: what a target's ssh configuration asks for: settings without effect, passphrases.
- `folder`: the run folder and `run.json`.
- `sharing`: which agents there are, on which nodes, and which play which group.
- `spec`: the specification that the Rust half receives.
- `ports`: what an engine and an agent can be asked, and who watches; `console`: where a run is watched, steered and
  stopped; `engines`: the engines that there are. `local` is this machine, where agents are processes that share its
  clock and files; `ray` has nodes of a cluster, `ssh_nodes` has machines that ssh reaches. `remote`: both ends of an
  agent on another machine.
- `node_needs`: what a node must have, and what it lacks, as plain data; `count_needs`: the needs of a job's users.
- `agents`: starts, instructs and follows agents; `clocks`: their clocks; `silence`: whether they still say something;
  `meetings`: barriers across all of them.
- `watching`: records marks, and what watching costs.
- `run_job`: one run; `user_changes`: adds and takes users while it goes on; `interleaved`: runs of two plans in turn.
- `search`: a run to which the caller adds a step after each trial; `search_folder`: its run folder.
- `settling`: whether a load has settled.
- `certifier`: repeats runs until enough of them count; `method`: which runs it makes.
"""
