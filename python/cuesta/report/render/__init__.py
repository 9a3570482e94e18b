"""Shows a report: each module turns the same model into one kind of document.

- `text`: for a terminal. `page`: HTML that needs nothing else. `markdown`: for pull requests.
- `plain`: takes control characters out of the model, before any of them.
"""

from cuesta.report.render.markdown import markdown
from cuesta.report.render.page import html
from cuesta.report.render.text import text

__all__ = ["html", "markdown", "text"]
