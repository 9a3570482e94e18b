"""An agent on another machine: the engine's end of it, and the node's, joined by rows of JSON both ways.

The node's end starts the agent as a process of its machine, passes rows on, answers for its clock, and sends what the
agent records while it records it: if the node is lost, the engine has its records up to the last second. No row is on
the way of a keystroke. Rows are those of any agent (`records.messages`), and:

    engine → node   {"stop": true}      end the agent; the end of the connection means: kill it
                    {"fetch": 3}        send all that is recorded by now
    node → engine   {"piece": {…}}      a part of a file that the agent records (`shipping`)
                    {"fetched": 3}      all was sent
                    {"exited": "…"}     how the agent's process ended; nothing follows, and the engine closes

- `row_stream`: rows both ways over a connection.
- `node_end`: the node's end; `shipping`: what is new in a folder of records, and its copy.
- `remote_agent`: the engine's end, an `Agent`; `arrivals`: accepts the connections of nodes.
- `remote_engine`: an engine whose agents are on nodes, however these are reached.

Importing this loads nothing.
"""
