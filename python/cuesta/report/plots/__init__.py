"""The plots of a report: each is a function from figures to elements of the page; none where there is nothing.

- `svg`: how a plot of matplotlib gets into a page.
- `over_time`: the course of a run; `causes`: CPU time by cause, over time and by system.
- `percentiles`: percentile curves; `against_users`: sweeps, with their asymptotes.
- `scales`: the axes that they share.
"""

from cuesta.report.plots.against_users import overlaid as overlaid_sweeps
from cuesta.report.plots.against_users import sweeps
from cuesta.report.plots.causes import bars
from cuesta.report.plots.over_time import courses
from cuesta.report.plots.percentiles import curves, overlaid

__all__ = ["bars", "courses", "curves", "overlaid", "overlaid_sweeps", "sweeps"]
