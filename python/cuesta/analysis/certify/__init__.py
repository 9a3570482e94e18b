"""What a certification's runs say: MPL-17's form, the checks behind the grade, and whether the record is still true.

- `record`: derives the whole record from the raw files; `agreement`: compares it with what `record.json` says.
- `run`: one run, read; `phases`: its two phases and their CPU time; `extra_runs`: the runs made for one figure each.
- `form_rows`: parts a to c of the form, as tables of rows; `process_rows`: part d; `figure_arithmetic`: sums, means and
  ratios of figures that rest on samples.
- `grade`: the checks, and what they allow the record to be called; `absentee`: whether a benchmark stands for a
  service.
"""
