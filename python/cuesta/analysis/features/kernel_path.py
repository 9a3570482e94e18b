"""The in-kernel path (`host.path`): how much of the characters took it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cuesta.analysis.doubts.doubt import Doubt, step_doubt
from cuesta.analysis.planned import Allowed, read_setting
from cuesta.analysis.rows_within import rows_within
from cuesta.figures.step import StepFigures
from cuesta.ledger import HostRow
from cuesta.units import share

if TYPE_CHECKING:
    from cuesta.analysis.step import StepRecords


def add_figures(step: StepFigures, records: "StepRecords") -> StepFigures:
    """Add `host.builtin.in_kernel`."""
    if step.host.builtin is None:
        return step
    shares = rows_within(records.recorded.host, records.times)
    is_asked = read_setting(records.recorded, records.number, "host.path") == "kernel"
    builtin = replace(step.host.builtin, in_kernel=share_in_kernel(shares, is_asked))
    return replace(step, host=replace(step.host, builtin=builtin))


def share_in_kernel(shares: Sequence[tuple[HostRow, float]], is_asked: bool) -> float | None:
    """The share of the characters both ways, those of refused lines too, that passed in the kernel.

    0 if the plan asked for it, and the host did without. None if it was not asked for, or without characters.
    """
    rows = [(row.figures, share) for row, share in shares]
    relayed = [(path.input.kernel + path.output.kernel) * share for row, share in rows if (path := row.kernel_path)]
    if not relayed:
        return 0.0 if is_asked else None
    everywhere = sum((row.characters.typed + row.characters.out) * share for row, share in rows)
    return sum(relayed) / everywhere if everywhere else None


@step_doubt
def outside_the_kernel(step: StepFigures, allowed: Allowed) -> Doubt | None:
    """The in-kernel path was set, and characters went through the host's process."""
    in_kernel, least = step.host.builtin.in_kernel if step.host.builtin else None, allowed.in_kernel
    if in_kernel is None or in_kernel >= least:
        return None
    part = f"only {share(in_kernel)} of the characters took the in-kernel path (at least {share(least)})"
    advice = "host.json may tell why; a service with telnet's escapes needs [validity] in_kernel"
    return Doubt(part if in_kernel else "the in-kernel path was not taken", advice)
