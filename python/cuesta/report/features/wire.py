"""The section of the network between driver and host, if each has one of its own, and of TMux there."""

from collections.abc import Iterator

from cuesta.figures.step import StepFigures
from cuesta.report.figure import fact
from cuesta.report.model import Facts, Part, Remark, Section

WIRE = ("wire.packets_per_keystroke", "wire.bytes_per_keystroke", "wire.dropped")
TMUX = ("tmux.segments_per_datagram", "tmux.held_mean", "tmux.plain_share", "tmux.dropped")


def section(step: StepFigures) -> Iterator[Section]:
    parts: list[Part] = [Remark(step.wire_missing, "notice")] if step.wire_missing else []
    names = (*(WIRE if step.wire else ()), *(TMUX if step.tmux else ()))
    parts += [Facts([fact(name, step) for name in names])] if names else []
    if parts:
        yield Section("Network between driver and host", parts, name="WIRE")
