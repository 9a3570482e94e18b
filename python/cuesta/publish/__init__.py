"""Publishes a run that goes on: to a browser, to Prometheus, to an OpenTelemetry collector, as rows of JSON.

A process of its own does it, of the lowest priority. It is fed what is seen of the run, and nothing waits for it.

- `publisher`: the command's end: starts the process, feeds it, passes on what is asked for.
- `process`: the process; `messages`: what the two tell each other.
- `outlets`: to whom a run can be published, one file each: `web_outlet`, `prometheus_outlet`, `otlp_outlet`,
  `json_outlet`; `remote_steering`: what they ask of the run.
- `metrics`: what dashboards are told; `followed_metrics`: keeps them up to date; `instruments`:
  each metric, declared once.
- `buckets`: durations, counted in the buckets that others take.
- `prometheus`: what is scraped; `native_histograms`: the same for a server that asks for those.
- `otlp`: sends metrics to a collector; `otlp_data`: what it sends; `otlp_settings`: whether that is possible here.
- `json_rows`: an object for each moment of a run.
- `document`: writes the tables of docs/dashboards.md.
"""

from cuesta.publish.messages import Outlets
from cuesta.publish.publisher import Publisher, start_publisher

__all__ = ["Outlets", "Publisher", "start_publisher"]
