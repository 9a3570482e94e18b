"""The engine: turns a plan into a run folder. Importing it loads nothing: its processes start quickly.

- `tapes`, `users`: read what the plan names, before anything is started; `passphrases`: asked for then.
- `job`: a plan with its tapes and users, checked; how long it takes.
- `preflight`: what a run needs of this machine and of its target.
- `folder`: the run folder and `run.json`.
- `spec`: what the Rust half is told.
- `placement`: which CPUs and which network either side has; `isolation`: networks of their own.
- `host`: the built-in host in a process of its own, `host_process`.
- `agent`: one driving process; `agents` are its ends in this one; `meetings`: barriers over all of them.
- `meter_source`: which meters a run reads, and what they are worth; `listener`: who listens at a port.
- `metering`: a metering process, seen from here; `meter_process`: its own end; `node_exporter`: another machine's.
- `local`: all of it, on this machine; `interleaved`: two plans in turn.
- `certifier`: run after run until enough of them count; `method`: which runs; `conditions`: under which;
  `kernel_threads`, `linkage`, `runnable`: what is looked at beside a run.

Kept free: `ray`, the same on many machines. It will need of `agents` only what they offer now: ready, go, meet, stop.
"""
