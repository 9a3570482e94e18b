"""What a report says, before it is text, a page or Markdown.

A question (`run`, `several`) builds a `Report` once; `render` writes it. Nothing here knows how anything looks: a part
says what it is, and each rendering shows it as it can. The terminal shows no plot, picture or link.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Tone = Literal["", "good", "bad", "notice", "faint"]
"""How a text is meant: `notice` is unusual, `faint` explains."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text with what it means, which a page shows under the pointer."""

    text: str
    meaning: str = ""
    tone: Tone = ""


Cell = str | Words


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and what it is; one without a value is left out."""

    label: str
    value: str
    meaning: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and what they are."""

    rows: Sequence[Fact]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below heads; a row of one cell is a heading for the rows after it."""

    heads: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    details: Collection[int] = ()
    """Numbers of the rows that only a page and `--verbose` show."""
    wide: Collection[int] = ()
    """Numbers of the columns that only a page has room for."""
    wraps: int | None = None
    """Number of the column whose text may take several rows."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A sentence or two."""

    text: str
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Plot:
    """A plot as a Vega-Lite specification: plain data, drawn by the page."""

    title: str
    spec: Mapping[str, Any]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Plots:
    """Plots that stand side by side."""

    plots: Sequence[Plot]


@dataclass(frozen=True, slots=True)
class Listing:
    """Text that is laid out already."""

    text: str


@dataclass(frozen=True, slots=True)
class Links:
    """Files that belong to the report."""

    files: Sequence[Path]


@dataclass(frozen=True, slots=True)
class Picture:
    """A file that is a picture (SVG)."""

    title: str
    file: Path


@dataclass(frozen=True, slots=True)
class Folded:
    """Parts that a healthy run need not say: a page shows them when their title is clicked."""

    title: str
    parts: Sequence["Part"]


Part = Facts | Table | Remark | Plots | Listing | Links | Picture | Folded


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a title. `more` is for the page and for `--verbose`."""

    title: str
    parts: Sequence[Part] = ()
    more: Sequence[Part] = ()
    name: str = ""
    """Its name in the margin of a terminal, where that is not the title."""


@dataclass(frozen=True, slots=True)
class BigFigure:
    """One of the four to six figures that answer most readers."""

    label: str
    value: str
    detail: str = ""
    meaning: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether to believe the figures, first of all."""

    word: str
    text: str
    good: bool
    reasons: Sequence[tuple[str, str]] = ()
    """What speaks against them, each with a piece of advice, which may be empty."""
    notices: Sequence[str] = ()
    """How far a run got that did not come to its end."""


@dataclass(frozen=True, slots=True)
class Report:
    """A question, answered: the headline first, then what it rests on."""

    title: str
    headline: str
    verdict: Verdict
    figures: Sequence[BigFigure] = ()
    sections: Sequence[Section] = field(default=())
