"""Plans: what is to be run, parsed once and then never in doubt.

- `fields`: how single values are written (durations, laws, loads, targets).
- `figure`: figures such as `response.p99`, which limits and published figures name.
- `limit`: limits such as `response.p99 < 2s`.
- `schema`: the settings of a plan, with defaults and meanings.
- `messages`: what is wrong with a plan, and how to mend it.
- `sweep`: a matrix of settings becomes steps.
- `load`: default < cuesta.toml < plan < environment < flag, and the segments that share their lines.
- `document`: writes the tables of docs/plan.md from the schema.
"""

from cuesta.plan.fields import Load, Service
from cuesta.plan.figure import Figure
from cuesta.plan.limit import Limit
from cuesta.plan.load import Plan, RawOptions, Segment, load
from cuesta.plan.schema import SECRET, Group, Host, Published, Settings, Validity
from cuesta.plan.sweep import Step

__all__ = [
    "SECRET",
    "Figure",
    "Group",
    "Host",
    "Limit",
    "Load",
    "Plan",
    "Published",
    "RawOptions",
    "Segment",
    "Service",
    "Settings",
    "Step",
    "Validity",
    "load",
]
