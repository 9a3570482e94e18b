"""The elements of a report, independent of its rendering as text, page or Markdown.

`run_report`, `several` and `comparison` build a `Report`; `render` writes it. An element tells what it is, not how it
looks: each rendering shows it in its own way. The terminal shows no plots, pictures or links.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal

Tone = Literal["", "good", "bad", "notice", "faint", "title"]
"""The tone of a text: `notice` for what is unusual, `faint` for explanations, `title` for the name of what follows."""


@dataclass(frozen=True, slots=True)
class Words:
    """A text with its meaning, which a page shows under the pointer."""

    text: str
    meaning: str = ""
    tone: Tone = ""


Cell = str | Words


def as_words(cell: Cell) -> Words:
    return cell if isinstance(cell, Words) else Words(cell)


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value; a fact without a value is left out."""

    label: str
    value: str
    meaning: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    rows: Sequence[Fact]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below heads; a row of one cell is a heading for the rows after it."""

    heads: Sequence[Cell]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    details: Collection[int] = ()
    """Numbers of the rows that only a page and `--verbose` show."""
    instead: str = ""
    """A sentence that stands for these rows where they are not shown."""
    wide: Collection[int] = ()
    """Numbers of the columns that only a page has room for."""
    wraps: int | None = None
    """Number of the column whose text may take several rows."""
    indented: Collection[int] = ()
    """Numbers of the rows that a page indents: parts of the rows before them."""
    may_end_early: bool = False
    """Whether a first screen that has too little room may leave out the last rows, and says how many."""


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
    """Plots side by side."""

    plots: Sequence[Plot]


@dataclass(frozen=True, slots=True)
class Listing:
    """Preformatted text."""

    text: str


@dataclass(frozen=True, slots=True)
class Screen:
    """Rows of a user's screen."""

    rows: Sequence[str]


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
    """Parts of minor interest: a page shows them when their title is clicked."""

    title: str
    parts: Sequence["Part"]


Part = Facts | Table | Remark | Plots | Listing | Screen | Links | Picture | Folded


class Rank(IntEnum):
    """What a first screen leaves out if it has too little room: the highest rank first."""

    LAST_STEP = 1
    """The response and the throughput of the last step of a sweep."""
    HOST = 1
    DRIVER = 2
    LAW = 3
    CAUSES = 4
    """What the host did in detail; each further part of it has the next rank."""


@dataclass(frozen=True, slots=True)
class Spare:
    """A part that a first screen leaves out if it has too little room."""

    rank: int
    """A `Rank`, or one beyond."""
    part: Part


@dataclass(frozen=True, slots=True)
class Section:
    """Parts under a title."""

    title: str
    parts: Sequence[Part] = ()
    more: Sequence[Part] = ()
    """What the page and `--verbose` show after `parts`."""
    name: str = ""
    """Its name in the margin of a terminal, if that is not the title."""
    brief: Sequence[Part] | None = None
    """What the first screen of a terminal shows instead of `parts`."""
    spare: Sequence[Spare] = ()
    """What it shows after them if it has room."""


@dataclass(frozen=True, slots=True)
class BigFigure:
    """One of the four to six figures that most readers want."""

    label: str
    value: str
    detail: str = ""
    meaning: str = ""
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the figures can be trusted."""

    word: str
    text: str
    good: bool | None
    """None: neither, as nothing could be told."""
    reasons: Sequence[tuple[str, str]] = ()
    """Reasons against them, each with its advice, which may be empty."""
    notices: Sequence[str] = ()
    """How far incomplete runs got."""
    name: str = "VALIDITY"
    """Its name in the margin of a terminal."""
    reasons_last: bool = False
    """Whether a terminal shows the reasons above the headline, at the end of the text, where readers see them first."""


def combine(results: Collection[bool | None]) -> bool | None:
    """False if any result is; else None, not decided, if any is; else True."""
    return False if False in results else None if None in results else True


@dataclass(frozen=True, slots=True)
class Report:
    """A whole report: the headline, then the figures behind it."""

    title: str
    headline: str
    """First on a page, and last in a terminal, above the prompt. Empty if the verdict says it all."""
    verdict: Verdict
    figures: Sequence[BigFigure] = ()
    sections: Sequence[Section] = field(default=())
    limits_ok: bool | None = True
    """Whether no limit was crossed, or not measured."""
    conclusion: Remark | None = None
    """What limits the host: on a page below the headline, in a terminal above it."""
