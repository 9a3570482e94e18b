"""Compares two sides of runs: folders or pairs → one number for each run and figure → a verdict on each figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.analysis.compare import comparison
from cuesta.analysis.compare.comparison import Overall, Terms
from cuesta.analysis.compare.sides import read_paired_sides, read_side
from cuesta.analysis.compare.verdict import MetricComparison
from cuesta.errors import Exit

EXITS = {
    Overall.UNCHANGED: Exit.GOOD,
    Overall.CHANGED: Exit.CHANGED,
    Overall.INCONCLUSIVE: Exit.INCONCLUSIVE,
    Overall.REFUSED: Exit.REFUSED,
}


@dataclass(frozen=True, slots=True, repr=False)
class Comparison:
    """Two sides of runs, compared."""

    result: comparison.Comparison
    """All that `cuesta.analysis.compare` says."""

    def __repr__(self) -> str:
        return f"<Comparison of {self.result.new.folder} with {self.result.base.folder}: {self.verdict}>"

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


def compare_folders(base: Path, new: Path, terms: Terms, step: int | None = None) -> Comparison:
    """Compare two folders, each a run or a folder of runs; of sweeps step `step`, counted from 0; None: the last."""
    return Comparison(comparison.compare(read_side(base, step), read_side(new, step), terms))


def compare_pairs(folder: Path, terms: Terms, step: int | None = None) -> Comparison:
    """Compare the two sides of a folder of pairs."""
    return Comparison(comparison.compare(*read_paired_sides(folder, step), terms, in_pairs=True))
