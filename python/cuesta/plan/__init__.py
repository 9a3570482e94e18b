"""Reads and checks plans, once, before a run.

- `fields`: types of single values (durations, distributions, loads, targets); `service`: what the built-in host does;
  `engine_place`: where the users are; `meter_places`: where hosts are metered; `followed_users`: whose keys are
  followed through them; `typed_table`: a table of published figures; `reading`: what these read their values with.
- `schema`: the settings of a plan, with defaults and meanings; `published`: those of published figures.
- `driver`: the settings as the driver receives them.
- `messages`: error messages about plans, each with a remedy.
- `sweep`: expands a matrix of settings into steps.
- `load`: merges settings (a flag overrides the environment, that the plan, that cuesta.toml, that the default), and
  groups steps into segments that share their lines.
- `sessions`: makes two groups of a group with other sessions, one that is typed at and one that streams.
- `offered_tape`: a first tape for a target that is named without one.
- `document`: writes the tables of docs/plan.md, `cli/verbs/flags.py` and `keywords`, the settings as keywords of the
  library, from the schema.
"""

from cuesta.plan.load import Plan, RawOptions, Segment, load
from cuesta.plan.published import PublishedFigure, PublishedTable
from cuesta.plan.schema import Group, Host, Settings
from cuesta.plan.service import Service
from cuesta.plan.sweep import Step

__all__ = [
    "Group",
    "Host",
    "Plan",
    "PublishedFigure",
    "PublishedTable",
    "RawOptions",
    "Segment",
    "Service",
    "Settings",
    "Step",
    "load",
]
