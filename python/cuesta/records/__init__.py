"""The records of a run, typed. Rust declares each once, with units and meanings; these types are made from it.

- `schema`: what Rust declares, and what is made of it: the types, and the tables of the documentation.
- `meter_report`: the reports of the host's meters; `meter_figure`: a figure of one, and the two forms that reports have
  on disk.
"""
