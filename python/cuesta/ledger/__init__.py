"""What lies on disk, opened: records in, types out. Nothing is derived here but exact sums of histograms.

- `run`: one run folder: what was recorded, however far it got; `rows`: how its files are read.
- `certification`: a certification folder; `record`: the schema of what is in it; `signature`: who signed it.
- `meters`: what the host's meters recorded of a run; `kernel_threads`: what the kernel's threads used meanwhile;
  `linkage`: what dynamic linkers bound; `runnable_tasks`: how many tasks wanted a CPU.
- `meter_report`: the types of the meters' reports, which `meter_schema` makes from the Rust half's schema;
  `meter_figure`: a figure of one, and the two forms that reports have on disk.
- `transactions`: the log of a run.
- `historical`: tables typed from documents; `goals`: what is hoped for.
- `discover`: the runs and certifications below a folder; `database`, `tables`: all of them in DuckDB, for queries.
- `experiment`: folders of runs, and the index of pairs; `service`: a live service's profile.
"""

from cuesta.ledger.rows import JsonObject
from cuesta.ledger.run import (
    HostRow,
    Interval,
    Recorded,
    Step,
    Tag,
    User,
    added,
    open_run,
    raw_files,
    segment_folders,
)

__all__ = [
    "HostRow",
    "Interval",
    "JsonObject",
    "Recorded",
    "Step",
    "Tag",
    "User",
    "added",
    "open_run",
    "raw_files",
    "segment_folders",
]
