"""Features that one study needs.

- `wire`: the network between driver and host, and TMux there. `bisync`: what bisync lines carried.
- `batching`: what handling several packets at once gives and costs, in a sweep of TMux, deferral or aligned keys.
"""
