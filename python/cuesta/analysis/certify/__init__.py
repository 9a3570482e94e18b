"""What a certification's runs say: MPL-17's form, the checks behind the grade, and whether the record is still true.

- `record`: derives the whole record from the raw files; `agreement`: compares it with what `record.json` says.
- `run`: one run, read; `phases`: its two phases and their CPU time; `extra_runs`: the runs made for one figure each.
- `form_rows`: parts a to c of the form; `process_rows`: part d; `relative`: its ratio to a reference system.
  `phase_figures`: one figure of one run and phase; `fault_kinds`: MPL-17's kinds of faults;
  `sampling_error`: figures that rest on samples, with their intervals.
- `grade`: the checks, and what they allow the record to be called; `absentee`: whether a benchmark stands for a
  service.
"""
