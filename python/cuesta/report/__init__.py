"""Shows what was derived: nothing is computed here but places on paper.

- `text`: the summary at the end of a run.
- `html`: the report as one page; `plots`: its plots; `svg`: how they get into it; `page.css`: how it looks.
- `page`: the frame of every page, and what goes into it.
- `tables`, `words`: tables and sentences that both share.
"""

from cuesta.report.html import html
from cuesta.report.text import text

__all__ = ["html", "text"]
