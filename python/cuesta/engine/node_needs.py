"""What a node must have for its share of a run's users, and what it lacks of that: plain data, sent to it as JSON.

It loads no plan and asks no machine: `count_needs` makes the needs of a job, `local.node_check` compares them with the
machine that it runs on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from cuesta.errors import CuestaError

HERE = ""
"""The name of this machine among nodes."""


@dataclass(frozen=True, slots=True)
class TargetNeeds:
    """What the lines to one target need."""

    target: str
    lines: int
    """The most that are open at once."""
    user: Mapping[str, str] = field(repr=False)
    """One user's row, with which a login is tried. Secret."""
    secret: Sequence[str] = field(default_factory=list)
    """The columns of it that no message may show."""


@dataclass(frozen=True, slots=True)
class NodeNeeds:
    """What a node must have. All of it can be written as JSON, and is secret in part."""

    users: int
    """The most who are at work at once."""
    descriptors: int
    """In one process: an agent, or the built-in host."""
    terminals: int
    """Pseudo-terminals."""
    programs: int
    """Programs on lines: processes, at the least."""
    memory: int
    """Bytes, estimated."""
    targets: Sequence[TargetNeeds]
    passphrases: Mapping[str, str] = field(repr=False)
    """Of key files, by path. Secret."""
    wanted_descriptors: int = 0
    """How many one process may need if users are added while the run goes on. A node may have fewer."""

    def as_row(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Read what `as_row` of the same version of Cuesta wrote."""
        return cls(**{**row, "targets": [TargetNeeds(**target) for target in row["targets"]]})


@dataclass(frozen=True, slots=True)
class Lack:
    """What a node lacks, and what to do about it, if that is known."""

    what: str
    remedy: str | None = None

    def as_row(self) -> dict[str, Any]:
        return asdict(self)


def refuse(lacks: Mapping[str, Sequence[Lack]]) -> None:
    """Raise CuestaError if any node lacks something, by the nodes' names; what several of them lack is told once."""
    nodes: dict[Lack, list[str]] = {}
    for node, missing in lacks.items():
        for lack in missing:
            nodes.setdefault(lack, []).append(node)
    if not nodes:
        return
    told = [(f"{_join(names)}{lack.what}", lack.remedy) for lack, names in nodes.items()]
    if len(told) == 1:
        raise CuestaError(*told[0])
    rows = [f"  {what}" + (f"\n    {remedy}" if remedy else "") for what, remedy in told]
    raise CuestaError("\n".join([f"the run cannot start, for {len(told)} reasons:", *rows]))


def _join(names: Sequence[str]) -> str:
    """The names of nodes before what they lack; nothing for this machine."""
    return "" if list(names) == [HERE] else f"{', '.join(name or 'this machine' for name in names)}: "
