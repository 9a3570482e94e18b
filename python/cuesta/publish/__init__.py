"""Gives what is seen of a run to other programs: to Prometheus, to collectors of OpenTelemetry, to a pipe.

- `metrics`: takes what is seen; `prometheus`: what is scraped.
"""
