"""Agents on machines that are reached by ssh. Importing it loads nothing.

    engine ─pipe→ ssh ─→ sshd ─pipe→ `cuesta run --as-node` ─pipes→ agent

There is an ssh for each node, which describes it and says what it lacks, and one for each agent.

- `ssh_engine`: the machines as an engine; `ssh_process`: an ssh, and rows over its pipes.
- `node_session`: what ssh starts on a node.
"""
