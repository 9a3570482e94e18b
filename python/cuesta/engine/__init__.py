"""The engine: turns a plan into a run folder. Importing it loads nothing: its processes start quickly.

- `tapes`, `users`: read the files that the plan names, before anything is started; `passphrases`: of key files.
- `job`: a plan with its tapes and users, checked; how long it takes.
- `foresight`: what the plan, its tapes and its targets show before a run: shared files, a short `settle`.
- `preflight`: checks that this machine and the target have what the run needs.
- `ssh`: what a target's ssh configuration asks for: settings without effect, passphrases.
- `folder`: the run folder and `run.json`.
- `spec`: the specification that the Rust half receives.
- `placement`: the CPUs and the network of the host and of the driver; `network`: a separate network for each, and what
  works on the wire between them.
- `host`: the built-in host in its own process, `host_process`.
- `tmux_process`: an agent of TMux in its own process.
- `agent`: one driver process; `agents`: this process's end of it; `meetings`: barriers across all agents.
- `meter_source`: which meters a run reads, and how good they are; `listener`: finds the process that listens at a port.
- `metering`: this process's end of a metering process; `meter_process`: its main; `node_exporter`: reads another
  machine's.
- `local`: one run on this machine; `interleaved`: runs of two plans in turn.
- `search`: a run to which the caller adds a step after each trial; `search_folder`: its run folder.
- `settling`: whether a load has settled.
- `certifier`: repeats runs until enough of them count; `method`: which runs it makes; `conditions`: settings of the
  machine; `kernel_threads`, `linkage`, `runnable`: further readings that are taken during a run.

A future `ray` would run agents on many machines, with the interface that `agents` has now: ready, go, meet, stop.
"""
