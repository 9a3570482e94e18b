"""The records of a run, and what agents and the engine tell each other: types made from the Rust declarations.

- `schema`: what Rust declares: each field once, with unit and meaning.
- `rows`: the rows of a run folder; `messages`: what agents and the engine tell each other; `meter_report`: the reports
  of the host's meters. All are made by `document`, which also writes the JSON Schema and the tables of documents.
- `observation`: what is seen of a run while it goes on.
- `series`: the words of which tags of durations are made.
- `meter_figure`: a figure of the meters, and the two forms that reports have on disk.
- `reading`: reads any of them from JSON, and makes rows of JSON of them; `merging`: merges those of several agents.
"""
