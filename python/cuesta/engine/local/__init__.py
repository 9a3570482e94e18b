"""This machine: the processes of a run, and what the engine reads of the kernel. Importing it loads nothing.

- `preflight`: checks that this machine and the target have what the run needs; `node_check`: what any node lacks of its
  needs: `free_memory` and `free_ports` of the machine and its `control_groups`, and by `target_check` what it types at.
- `placement`: the CPUs and the network of the host and of the driver; `network`: a separate network for each, and what
  works on the wire between them; `tmux_process`: an agent of TMux in its own process.
- `local_engine`: this machine as an engine; `deployment`: the processes of a segment.
- `builtin_host`: the built-in host in its own process, `host_process`; `child_processes`: ends such a process, and
  reads its errors.
- `agent`: the engine's end of an agent; `agent_process`: its main.
- `meter_source`: which meters a run reads, and how good they are; `listener`: finds the process that listens at a port.
- `expected_steps`: the measurement intervals that are to be reported, of which the last may be cut.
- `metering`: this process's end of a metering process; `meter_process`: its main; `node_exporter`: reads another
  machine's.
- `neighbour`: what runs beside the measurement; `neighbour_process`: its main.
- `readings`: what else is read during a run, `kernel_threads`, `linkage` and `runnable`, each by `recorded_readings`.
- `conditions`: settings of the machine.
"""
