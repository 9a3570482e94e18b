"""Publishes a run that goes on: to a browser, to Prometheus, to an OpenTelemetry collector, as rows of JSON.

A process of its own does it, of the lowest priority. It is fed what is seen of the run, and nothing waits for it.

- `publisher`: the command's end: starts the process, feeds it, passes on what is asked for.
- `process`: the process; `messages`: what the two tell each other.
- `outlets`: to whom a run can be published, one file each: `web`.
"""

from cuesta.publish.messages import Outlets
from cuesta.publish.publisher import Publisher, start_publisher

__all__ = ["Outlets", "Publisher", "start_publisher"]
