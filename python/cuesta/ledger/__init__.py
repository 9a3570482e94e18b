"""Reads records from disk into types. It derives nothing, except exact sums of histograms.

- `run_folder`: a run folder, complete or cut off; `rows`: reads its files; `run_tail`: follows one that goes on.
- `certification`: a certification folder; `record`: the schema of its files; `signature`: signs and checks records.
- `agents`: what the engine noted about agents: nodes, clocks, silences, and how one died.
- `meters`: what the host's meters recorded of a run; `readings`: what the kernel's threads used meanwhile, what dynamic
  linkers bound, and how many tasks wanted a CPU; `wire`: what crossed the wire between driver and host;
  `neighbours`: what ran beside the measurement; `watching`: marks of those who watched, and what watching cost.
- `transactions`: the log of a run; `keys`: its log of keys; `paths`: its followed keys, and their ways
  through the host.
- `historical`: tables typed from documents; `goals`: planned improvements, and systems measured elsewhere.
- `discover`: the runs and certifications below a folder; `database`, `tables`: all of them in DuckDB, for queries;
  `document`: the page that describes them.
- `experiment`: folders of runs, and the index of pairs; `versions`: what a comparison of two versions was made of;
  `service`: a live service's profile.
"""

from cuesta.ledger.rows import JsonObject
from cuesta.ledger.run_folder import (
    HostRow,
    Interval,
    Recorded,
    RunReader,
    StepTimes,
    Tag,
    open_run,
    raw_files,
    segment_folders,
)

__all__ = [
    "HostRow",
    "Interval",
    "JsonObject",
    "Recorded",
    "RunReader",
    "StepTimes",
    "Tag",
    "open_run",
    "raw_files",
    "segment_folders",
]
