"""Tells what limits the host: a resource, the line, the driver, nothing, or that meters and response disagree.

- `bottleneck`: decides, by the rules of docs/capacity.md; `searches`: what a search tells before any meter is asked;
  `evidence`: what a decision rests on; `findings`: the sentence of each kind of decision.
- `measured_step`: a step's work and settings, and the steps of a run by their load.
- `resources`: each resource's utilization, service demand and waiting, one file for each kind; `response_parts`: where
  the time of a response goes; `unmetered`: what to meter next.
- `asymptotes`: the two bounds that no closed system exceeds; `laws`: operational laws that the meters must satisfy.
"""

from cuesta.analysis.capacity.bottleneck import find_bottleneck

__all__ = ["find_bottleneck"]
