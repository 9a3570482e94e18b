"""Gives what is seen of a run to other programs: to Prometheus, to collectors of OpenTelemetry, to a pipe.

- `metrics`: takes what is seen, and says what is told; `instruments`: each metric, declared once.
- `buckets`: durations, counted in the buckets that others take.
- `prometheus`: what is scraped; `native_histograms`: the same for a server that asks for those.
- `otlp`: sends metrics to a collector; `otlp_data`: what it sends; `otlp_settings`: whether that is possible here.
- `json_rows`: an object for each moment of a run.
- `document`: writes the tables of docs/dashboards.md.
"""
