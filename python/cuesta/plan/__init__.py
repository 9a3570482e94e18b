"""Plans: what is to be run, parsed once and then never in doubt.

- `fields`: how single values are written (durations, distributions, loads, targets).
- `schema`: the settings of a plan, with defaults and meanings.
- `messages`: what is wrong with a plan, and how to mend it.
- `sweep`: a matrix of settings becomes steps.
- `load`: default < cuesta.toml < plan < environment < flag, and the segments that share their lines.
- `document`: writes the tables of docs/plan.md from the schema.
"""

from cuesta.plan.fields import Load, Service
from cuesta.plan.load import Plan, RawOptions, Segment, load
from cuesta.plan.schema import SECRET, Group, Host, Published, Settings, Validity
from cuesta.plan.sweep import Step

__all__ = [
    "SECRET",
    "Group",
    "Host",
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
