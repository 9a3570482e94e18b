"""What users waited for in vain, and what their screens showed: a sample of each kind of failure."""

from collections.abc import Iterator

from cuesta.analysis.summary import Summary
from cuesta.figures.counts import WaitSample
from cuesta.report.model import Part, Remark, Screen, Section
from cuesta.report.phrases import waiting_in_vain
from cuesta.units import seconds

SHOWN = 3
"""Rows of a screen on a first screen: the last ones."""


def sections(summary: Summary) -> Iterator[Section]:
    """A sample of each kind of wait that went wrong in the last step; nothing if none did."""
    samples = dict(summary.last.samples)
    if not any(waiting_in_vain(summary)):
        samples.pop("unfinished", None)
    if not samples:
        return
    parts, more = list[Part](), list[Part]()
    for kind, sample in samples.items():
        rows = sample.screen[-SHOWN:]
        parts += [Remark(_said(kind, sample)), *([Screen(rows)] if rows else [])]
        if len(sample.screen) > SHOWN:
            more += [Remark(f"{kind}: the whole screen", "faint"), Screen(sample.screen)]
    yield Section("What was waited for, and what the screen showed", parts, more, "SEEN")


def _said(kind: str, sample: WaitSample) -> str:
    showed = "the screen showed" if sample.screen else "nothing had come"
    if kind == "continued":
        seemed = f" at the row `{sample.row}`" if sample.row else ""
        return f"{kind}: {sample.wait} was met{seemed}, and output went on for {seconds(sample.seconds)}; then {showed}"
    waited = f" for {seconds(sample.seconds)}" if sample.seconds else ""
    return f"{kind}: {sample.wait}{waited}; {showed}"
