"""Tells what limits the host: a resource, the line, the driver, nothing, or that meters and response disagree.

- `bottleneck`: decides, and gives one sentence; `findings`: the kinds of sentences. docs/capacity.md has the rules.
- `searches`: what a search says about its limit before any meter is asked.
- `load_points`: the steps of a sweep or a search by their load; `measured`: a step as capacity looks at it.
- `resources`: each resource's utilization, service demand and waiting, one file for each kind; `response_parts`: where
  the time of a response goes; `unmetered`: what to meter next.
- `asymptotes`: the two bounds that no closed system exceeds; `laws`: what no meter may break.
- `saturation_conflict`: the sentence on two saturation points that disagree.
"""

from cuesta.analysis.capacity.bottleneck import bottleneck
from cuesta.analysis.capacity.findings import Finding

__all__ = ["Finding", "bottleneck"]
