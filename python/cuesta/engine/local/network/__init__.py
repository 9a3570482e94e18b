"""The network between driver and host, if each has one of its own (`--isolate`).

- `isolation`: two network namespaces joined by a wire, for a whole run.
- `multiplexing`: an agent of TMux at each end of the wire, for a segment.
- `deferral`: the host's kernel puts off receiving, for a segment.
- `wire`: the record of what crossed the wire in each step.
"""
