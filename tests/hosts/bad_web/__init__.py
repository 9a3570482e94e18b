"""Hostile web servers at one port. Each does one thing wrong, its shape; the path of a request names it.

    python -m tests.hosts.bad_web --port PORT --log FILE

A shape may be any part of the path: `ws://H:P/SHAPE`, `ttyd+ws://H:P/SHAPE`, `jupyter+ws://H:P/SHAPE`,
`k8s+ws://H:P/SHAPE/POD`. Until it does wrong the server behaves as ttyd, GoTTY, Jupyter Server or Kubernetes would.

- `caller`: a client and its request; what a good server answers.
- `answers`: shapes that answer the first request wrongly, whatever it asks for.
- `upgrades`: shapes that answer the request for a WebSocket wrongly.
- `messages`: shapes that take it, and then send what no client wants.
- `bombs`: a gigabyte as a megabyte.
"""
