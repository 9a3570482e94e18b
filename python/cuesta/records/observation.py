"""What is seen of a run while it goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from cuesta.records.messages import Snapshot, UserScreen
from cuesta.records.rows import MarkRow, MeterRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One moment of a run. What has not come yet is left out."""

    snapshots: Sequence[Snapshot]
    """The newest of each agent; they add up (`records.merging`)."""
    screens: Sequence[UserScreen] = ()
    """What those users see who are looked at."""
    meters: Sequence[MeterRecord] = ()
    """The newest reading of each host's meters, with `row` or `gap`."""
    marks: Sequence[MarkRow] = ()
    """All instants of the segment that were marked so far."""
