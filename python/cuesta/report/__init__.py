"""Shows what was derived: nothing is computed here but places on paper.

- `model`: what a report says, before it is shown.
- `text`: the summary at the end of a run.
- `html`: the report as one page: of one run what came of it, and what that rests on (`instruments`); of several, them
  side by side (`several`). `plots`: the plots; `page`: the frame of every page, and what goes into it; `page.css`: how
  it looks.
- `form`: a certification's form; `systems`: several certifications, side by side on one page.
- `markdown`: for pull requests; `junit`: for continuous integration.
- `tables`, `columns`, `phrases`: tables and sentences that these share; `layout`: columns of a terminal.
- `comparison`: two sides of runs, for a terminal and as data; `representative`: a run beside a service's profile.
- `ledger`: systems and goals; `identities`: what does not agree in a document; `sql_result`: what a query gave.
- `meters`, `meter_rows`, `front_end`, `profile`: what meters say, for a terminal; `network`: whose the network's CPU
  time was; `off_cpu`: how long tasks were off their CPUs; `cells`: a meter's figure in a table; `tiers`: how it was
  had.
- `recording`: what of a recorded session was hidden and what was kept.
"""

from cuesta.report.columns import names
from cuesta.report.html import html
from cuesta.report.junit import junit
from cuesta.report.markdown import markdown
from cuesta.report.systems import systems
from cuesta.report.text import text

__all__ = ["html", "junit", "markdown", "names", "systems", "text"]
