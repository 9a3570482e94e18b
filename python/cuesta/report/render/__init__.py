"""Shows a report: each module turns the same model into one kind of document.

- `text`: for a terminal. `markdown`: for pull requests.
- `page`: HTML that needs nothing else. It is imported by its name: most verbs write no page and need no MarkupSafe.
- `plain`: takes control characters out of the model, before any of them.
"""

from cuesta.report.render.markdown import markdown
from cuesta.report.render.text import text

__all__ = ["markdown", "text"]
