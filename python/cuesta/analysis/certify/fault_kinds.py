"""MPL-17's kinds of faults: what each is today, which causes of CPU time it is, and where its number is from."""

from dataclasses import dataclass
from typing import Literal

Source = Literal["timed", "interrupts", "traced", "linkage"]


@dataclass(frozen=True, slots=True)
class Kind:
    """One of them."""

    key: str
    name: str
    """MPL-17's word."""
    today: str
    """Today's."""
    causes: tuple[str, ...]
    """Causes of CPU time that it is."""
    formula: str
    """These, said."""
    counted: tuple[str, ...]
    """What is counted: `counts` of a sheet where it is from timed runs, else its causes."""
    source: Source
    """Which runs count it."""

    @property
    def label(self) -> str:
        """Name the row of its time."""
        return "Interrupt handling time" if self.key == "interrupt" else f"{self.name.capitalize()} fault time"


KINDS = (
    Kind(
        key="page",
        name="missing page",
        today="page faults",
        causes=("page_faults",),
        formula="page_faults",
        counted=("minor_faults", "major_faults"),
        source="timed",
    ),
    Kind(
        key="segment",
        name="missing segment",
        today="open, map",
        causes=("mapping",),
        formula="mapping (open, close, mmap, munmap, mprotect, mremap)",
        counted=("mapping",),
        source="traced",
    ),
    Kind(
        key="linkage",
        name="linkage",
        today="dynamic linker",
        causes=("linking",),
        formula="linking (the dynamic linker's own instructions)",
        counted=(),
        source="linkage",
    ),
    Kind(
        key="wall_crossing",
        name="wall crossing",
        today="system calls",
        causes=("system_calls",),
        formula="system_calls that are neither mapping nor loading",
        counted=("system_calls",),
        source="traced",
    ),
    Kind(
        key="interrupt",
        name="interrupt",
        today="",
        causes=("softirq", "interrupts"),
        formula="softirq + interrupts, hard ones",
        counted=("softirq", "interrupts"),
        source="interrupts",
    ),
)
LOADING, NON_FAULT = "loading", "user"
"""Causes that are no faults."""
NAMED = {LOADING, NON_FAULT, *(cause for kind in KINDS for cause in kind.causes)}
"""All causes that the form has a row for."""
HOW_COUNTED: dict[Source, str] = {
    "timed": "counted in the timed runs",
    "interrupts": "counted by the tracer, in the timed runs",
    "traced": "counted by the tracer, in the run apart that traces system calls",
    "linkage": "references bound by name, as the linkers say in the run apart that asks them",
}
