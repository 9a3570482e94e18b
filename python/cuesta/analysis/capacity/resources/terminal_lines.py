"""The users' lines: each user has one, so they are no resource that users share; but a full line limits its user."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

from cuesta import _native
from cuesta.analysis.capacity.measured import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource

BITS = 10
"""Bits of a character on a line: start, eight of data, stop."""


@dataclass(frozen=True, slots=True)
class TerminalLine:
    """The lines of a step, if all have one speed."""

    speed: int
    """Bits a second, each way."""
    answer: float
    """Characters of a complete answer."""
    is_exact: bool
    """Whether the tape says how many characters an answer has; else they are counted on the line."""

    @property
    def seconds(self) -> float:
        """How long the characters of an answer take on the line."""
        return self.answer * BITS / self.speed


def found(of: MeasuredStep) -> Iterator[Resource]:
    line, work, characters = terminal_line(of), of.work, of.step.characters
    if line is None or work is None or not of.step.users:
        return
    for name, rate in (("from", characters.line_out_per_s), ("to", characters.line_in_per_s)):
        busy = (rate or 0.0) * BITS / line.speed
        yield Resource(
            name=f"the lines {name} the host",
            kind=Kind.LINES,
            busy=busy / of.step.users,
            source=f"arithmetic: characters × {BITS} bits ÷ {line.speed} bit/s, for each of {of.step.users} lines",
            servers=of.step.users,
            own=busy / of.step.users,
            demand=busy / work.per_s,
        )


def terminal_line(of: MeasuredStep) -> TerminalLine | None:
    """The lines of a step; None if they have no speed, or their speeds differ."""
    speeds, waits = set[int](), set[float | None]()
    for group in of.groups:
        tape = played(of, str(group.get("tape", "")))
        speeds.add(int(group["line_speed"] if group.get("line_speed") is not None else speed(tape)))
        waits |= {amount if word == "Wait+Bytes" else None for word, amount in outline(tape) if word.startswith("Wait")}
    if len(speeds) != 1 or not (own := speeds.pop()):
        return None
    (only,) = waits if len(waits) == 1 else (None,)
    return TerminalLine(own, counted(of) if only is None else only, only is not None)


def played(of: MeasuredStep, name: str) -> _native.Tape | None:
    """Parse the tape that a group played, as recorded; None if it cannot be read."""
    folder = of.recorded.folder / "tapes"
    try:
        text = (folder / f"{PurePath(name.removeprefix('builtin:')).stem}.tape").read_text(encoding="utf-8")
        return _native.Tape.parse(text, name, str(folder))
    except (OSError, ValueError, _native.TapeError):
        return None


def outline(tape: _native.Tape | None) -> list[tuple[str, float | None]]:
    return tape.outline() if tape else []


def speed(tape: _native.Tape | None) -> int:
    """The tape's `Set LineSpeed`; 0 if it has none."""
    commands = json.loads(tape.commands())["commands"] if tape else []
    told = [each["Args"] for each in commands if (each["Type"], each["Options"]) == ("SET", "LineSpeed")]
    return int(told[-1]) if told else 0


def counted(of: MeasuredStep) -> float:
    """Characters of an answer as counted: all that the line brought, less the echoes of keys that were timed."""
    work, step = of.work, of.step
    if work is None or work.unit == "key":
        return 1.0
    echoes = step.echo.count / step.seconds if step.seconds else 0.0
    return max((step.characters.line_out_per_s or 0.0) - echoes, 0.0) / work.per_s
