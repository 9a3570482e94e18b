"""Compares two sides of runs: folders or pairs → one number for each run and figure → a verdict on each figure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.analysis.compare import comparison
from cuesta.analysis.compare.comparison import Overall, Terms
from cuesta.analysis.compare.metrics import HEADLINES
from cuesta.analysis.compare.sides import read_paired_sides, read_side
from cuesta.analysis.compare.verdict import MetricComparison
from cuesta.errors import Exit, UsageError
from cuesta.validation import is_share, suggest

EXITS = {
    Overall.UNCHANGED: Exit.GOOD,
    Overall.CHANGED: Exit.CHANGED,
    Overall.INCONCLUSIVE: Exit.INCONCLUSIVE,
    Overall.REFUSED: Exit.REFUSED,
}
PART_FIGURE = r"(response|echo)\{.+\}\.p95"
"""The name of a figure of one transaction or one group. Whether the runs have it is checked when they are read."""


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two sides of runs, compared."""

    result: comparison.Comparison
    """All that `cuesta.analysis.compare` says."""

    def __repr__(self) -> str:
        base, new = self.result.base.folder, self.result.new.folder
        sides = f"the pairs in {base}" if self.result.in_pairs else f"{new} with {base}"
        return f"<Comparison of {sides}: {self.verdict}>"

    @property
    def verdict(self) -> str:
        """`changed`, `no change beyond the margin`, `inconclusive` or `refused`."""
        return str(self.result.overall)

    @property
    def figures(self) -> Mapping[str, MetricComparison]:
        """The figures that were judged, by name: `figures["response.p95"].ratio` is new ÷ base."""
        return {figure.metric.name: figure for figure in self.result.headline}

    @property
    def refused(self) -> Sequence[str]:
        """Why nothing is compared, a sentence each; empty if it is."""
        return self.result.refused

    @property
    def exit(self) -> Exit:
        """The code with which the command ends."""
        return EXITS[self.result.overall]

    def text(self, *, colour: bool | None = False) -> str:
        """The comparison for a terminal; `colour` None: if this is a terminal."""
        from cuesta.report.comparison import text  # noqa: PLC0415, slow, and not always wanted

        return text(self.result, colour)

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints (docs/compare.md)."""
        from cuesta.report.comparison import data  # noqa: PLC0415, slow, and not always wanted

        return data(self.result)


def check_terms(terms: Terms) -> Terms:
    """The terms, if a comparison can be made on them. Raises UsageError."""
    if not is_share(terms.margin):
        raise UsageError(f"cuesta compare: margin: expected a share between 0 and 1, got {terms.margin!r}", "as 0.05")
    if terms.despite is not None and not terms.despite.strip():
        raise UsageError("cuesta compare: --despite: expected a reason", "it is printed in the result: say it in words")
    if terms.compensation and not terms.despite:
        remedy = "say what was changed: --despite REASON"
        raise UsageError("cuesta compare: --compensation needs --despite: it corrects for a changed method", remedy)
    known = [metric.name for metrics in HEADLINES for metric in metrics]
    for name, ratio in terms.compensation.items():
        if name not in known and not re.fullmatch(PART_FIGURE, name):
            raise UsageError(f"cuesta compare: --compensation: no such figure: {name!r}{suggest(name, known)}")
        if not (isinstance(ratio, int | float) and 0 < ratio < float("inf")):
            what = f"cuesta compare: --compensation: expected a ratio for {name}, got {ratio!r}"
            raise UsageError(what, f"as {name}=0.97")
    return terms


def compare_folders(base: Path, new: Path, terms: Terms, step: int | None = None) -> Comparison:
    """Compare two folders, each a run or a folder of runs; of sweeps step `step`, counted from 0; None: the last."""
    return Comparison(comparison.compare(read_side(base, step), read_side(new, step), terms))


def compare_pairs(folder: Path, terms: Terms, step: int | None = None) -> Comparison:
    """Compare the two sides of a folder of pairs."""
    return Comparison(comparison.compare(*read_paired_sides(folder, step), terms, in_pairs=True))
