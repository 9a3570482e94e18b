"""Shows what was derived. A question builds one model of its report; renderings turn it into documents.

- `model`: what a report says: headline, verdict, big figures, sections of facts, tables, plots, remarks.
- `run`: the report of one run; `several`: of runs side by side. `headline`: the answer in one sentence, and what is
  unusual; `sweep`, `host`: sections of a run's report; `figure`: values with their label and meaning from the
  catalogue; `phrases`: sentences that reports share; `plots`: plots as Vega-Lite specifications.
- `render`: a report as text, page and Markdown; `page`: elements of a page; `documents`: runs straight to a document.
- `junit`: limits for continuous integration.
- `form`: a certification's form, laid out by `form_text` and `form_page`; `systems`: several certifications, side by
  side on one page.
- `comparison`: two sides of runs, for a terminal and as data; `representative`: a run beside a service's profile.
- `ledger`: systems and goals; `identities`: what does not agree in a document; `sql_result`: what the database answers.
- `meters`, `meter_rows`, `front_end`, `profile`: what meters say, for a terminal; `off_cpu`: how long tasks were off
  their CPUs; `cells`: a meter's figure in a table, and its tier; `layout`: columns of a terminal.
- `recording`: what of a recorded session was hidden and what was kept.
"""

from cuesta.report.documents import html, markdown, text
from cuesta.report.junit import junit
from cuesta.report.several import names
from cuesta.report.systems import systems

__all__ = ["html", "junit", "markdown", "names", "systems", "text"]
