"""The users' lines: each user has one, so they are no resource that users share; but a full line limits its user."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePath

from cuesta import _native
from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources.resource import Kind, Resource
from cuesta.ledger import JsonObject
from cuesta.line_kinds import settings_of
from cuesta.target import kind_of


@dataclass(frozen=True, slots=True)
class LineSpeed:
    baud: int
    """Bits a second."""
    bits: int = 10
    """Bits of a character: start, data, parity, stop. Where the driver makes the speed they are 1, 8, 0, 1."""

    @property
    def character_seconds(self) -> float:
        return self.bits / self.baud

    def __str__(self) -> str:
        return f"{self.bits} bits ÷ {self.baud} bit/s"


@dataclass(frozen=True, slots=True)
class TerminalLine:
    """The lines of a step, if all have one speed."""

    speed: LineSpeed
    answer_characters: float
    """Of a complete answer."""
    is_exact: bool
    """Whether the tape states the number of characters; else they are counted on the line."""

    @property
    def seconds(self) -> float:
        """Of an answer's characters on the line."""
        return self.answer_characters * self.speed.character_seconds


def read_resources(measured: MeasuredStep) -> Iterator[Resource]:
    line, work, characters = read_terminal_line(measured), measured.work, measured.step.characters
    if line is None or work is None or not measured.step.users:
        return
    for name, rate in (("from", characters.line_out_per_s), ("to", characters.line_in_per_s)):
        busy = (rate or 0.0) * line.speed.character_seconds
        yield Resource(
            name=f"the lines {name} the host",
            kind=Kind.LINES,
            busy=busy / measured.step.users,
            source=f"arithmetic: characters × {line.speed}, for each of {measured.step.users} lines",
            servers=measured.step.users,
            own_busy=busy / measured.step.users,
            demand=busy / work.per_s,
        )


def read_terminal_line(measured: MeasuredStep) -> TerminalLine | None:
    """The lines of a step; None if they have no speed, or their speeds differ."""
    speeds, answers = set[LineSpeed | None](), set[float | None]()
    for group in measured.groups:
        tape = parse_tape(measured, str(group.get("tape", "")))
        speeds.add(slowest_speed(group, tape))
        waits = ((word, amount) for word, amount in (tape.outline() if tape else []) if word.startswith("Wait"))
        answers |= {amount if word in ("Wait+Bytes", "Wait+Characters") else None for word, amount in waits}
    speed = speeds.pop() if len(speeds) == 1 else None
    if speed is None:
        return None
    (answer,) = answers if len(answers) == 1 else (None,)
    return TerminalLine(speed, count_answer(measured) if answer is None else answer, answer is not None)


def slowest_speed(group: JsonObject, tape: _native.Tape | None) -> LineSpeed | None:
    """The slower of the driver's line speed and that of a serial device; None without either."""
    planned = group.get("line_speed")
    driver_speed = int(planned) if planned is not None else read_tape_speed(tape)
    speeds = [LineSpeed(driver_speed)] if driver_speed else []
    target = str(group.get("target", ""))
    if kind_of(target) == "serial":
        speeds.append(read_device_speed(settings_of(target)))
    return max(speeds, key=lambda speed: speed.character_seconds, default=None)


def read_device_speed(settings: Mapping[str, str]) -> LineSpeed:
    """From the settings of a serial target (docs/lines.md)."""
    parity = settings.get("parity", "none") != "none"
    bits = 1 + int(settings.get("data", "8")) + parity + int(settings.get("stop", "1"))
    return LineSpeed(int(settings.get("baud", "9600")), bits)


def parse_tape(measured: MeasuredStep, name: str) -> _native.Tape | None:
    """The recorded tape of a group; None if it cannot be read."""
    folder = measured.recorded.folder / "tapes"
    try:
        text = (folder / f"{PurePath(name.removeprefix('builtin:')).stem}.tape").read_text(encoding="utf-8")
        return _native.Tape.parse(text, name, str(folder))
    except (OSError, ValueError, _native.TapeError):
        return None


def read_tape_speed(tape: _native.Tape | None) -> int:
    """The tape's `Set LineSpeed`; 0 if it has none."""
    commands = json.loads(tape.commands())["commands"] if tape else []
    speeds = [each["Args"] for each in commands if (each["Type"], each["Options"]) == ("SET", "LineSpeed")]
    return int(speeds[-1]) if speeds else 0


def count_answer(measured: MeasuredStep) -> float:
    """Characters of an answer: all that the line carried, less the echoes of timed keys."""
    work, step = measured.work, measured.step
    if work is None or work.unit == "key":
        return 1.0
    echoes = step.echo.count / step.seconds if step.seconds else 0.0
    return max((step.characters.line_out_per_s or 0.0) - echoes, 0.0) / work.per_s
