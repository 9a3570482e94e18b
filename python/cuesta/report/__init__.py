"""Shows what was derived: nothing is computed here but places on paper.

- `text`: the summary at the end of a run.
- `words`: sentences that both share.
"""

from cuesta.report.text import text

__all__ = ["text"]
