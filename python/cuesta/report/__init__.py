"""Shows results. `run_report`, `several` and `comparison` build a model of a report; `render` makes a document of it.

- `model`: the elements of a report: headline, verdict, big figures, sections of facts, tables, plots, remarks.
- `run_report`: the report of one run; `several`: of runs side by side. `headline`: the result in one sentence, and
  what is unusual (`diagnosis`, `stalls`, `probe_lines`, `frames`); `validity`: whether it can be trusted. Its
  sections: `limits`, `samples`, `sweep` (with `sweep_settings`), `published_tables`, `search`, `capacity`,
  `response_section` (with `frames`), `law`, `host_section`, `neighbour_section`, `path_section` (with `hops_beside`,
  tables of several paths side by side), `marks_section`, `driver_section` (with `agents`); `features`: those that
  one study needs.
  `figure`: values with their label and meaning from the catalogue; `plots`: plots as Vega-Lite specifications.
- `render`: a report as text, page and Markdown.
- `junit`: limits for continuous integration.
- `form`: a certification's form as text; `form_page`: as a page; `systems`: several certifications, side by side on one
  page.
- `comparison`: two sides of runs, as text and as data; `versions`: two versions of a program, `version_answer`:
  in a sentence; `box_plot`: distributions in rows of characters; `representative`: a run beside a service's profile.
- `prediction`: predictions of other loads, as text: `prediction_figures`, then `prediction_limits` and `simulation`;
  `prediction_data`: as data.
- `ledger`: systems and goals; `identities`: the contradictions in a document; `sql_result`: results of SQL queries.
- `meters`, `meter_rows`, `meter_limits`, `front_end`, `profile`: meter reports as text; `off_cpu`: how long tasks
  were off their CPUs; `cells`: a meter's figure in a table, and its tier.
- `tmux_status`: the status of an agent of TMux.
- `recording`: lists which entries of a recorded session are hidden.

This file imports none of them: a verb loads what it shows.
"""
