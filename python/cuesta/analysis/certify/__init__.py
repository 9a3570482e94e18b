"""Derives a certification's record from its runs: MPL-17's form, the checks and the grade.

- `record`: derives the whole record from the raw files; `agreement`: compares it with `record.json`.
- `certification_run`: one run and its figures; `read_run`: reads it; `phases`: the times of its two phases;
  `extra_runs`: reads runs made for one figure.
- `form_rows`: parts a, b and c of the form, and sums, means and ratios of figures; `process_rows`: part d.
- `grade`: the checks, and the grade that follows; `absentee`: warns if a benchmark does not represent a service.
"""
