"""Agents on the nodes of a Ray cluster. Importing it loads nothing, Ray least of all.

Ray places one actor on each node, and carries what is secret. All else between the engine and a node goes over a
connection of their own (`engine.remote`). The engine's process never loads Ray: whoever joins a cluster ends with it.
So a process of its own joins (`cluster_process`), and the engine tells it what to do.

    engine ─rows→ cluster_process ─Ray→ actor on each node ─pipes→ agents of the node
       └──────────────── rows, records (engine.remote) ───────────┘

- `ray_engine`: the cluster as an engine; `cluster`: the engine's end of `cluster_process`.
- `cluster_process`: joins or starts a cluster, and calls its actors; `node_actor`: the actor of a node.
"""
