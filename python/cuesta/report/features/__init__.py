"""What a report shows of features that one study needs.

- `batching`: a sweep of TMux, deferral or aligned keys; `frontier`: its plots.
- `bisync`: bisync lines. `wire`: the network between driver and host, and TMux there.
"""
