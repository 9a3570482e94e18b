"""The front end's figures in the form of `tty_meters` of 1979: the same lines and order, with correct counts."""

from collections.abc import Iterator

from cuesta.analysis.front_end import FrontEnd
from cuesta.columns import in_columns
from cuesta.units import count, digits, seconds, share

NONE = "no meter data"
NO_EVENT = f"{NONE}: there was none"
NOTHING_LEFT_OVER = "every line took all that it was given"
NOTHING_AHEAD = "nothing was read ahead"


def text(of: FrontEnd) -> str:
    return "\n".join([*head_rows(of), "", *character_rows(of), "", *between_rows(of), "", *processing_rows(of)])


def write_brief(of: FrontEnd) -> str:
    taken, answered = (f"{digits(number / of.seconds)}/s" for number in (of.messages_in, of.messages_out))
    busy = f"; its busiest thread was {share(1 - min(of.idle))} busy" if of.idle else ""
    there = f"{digits(of.dialed)} terminals on average for {seconds(of.seconds)}"
    return f"{there}; messages: {taken} taken, {answered} answered{busy}. All of its meters: --tty-meters"


def head_rows(of: FrontEnd) -> Iterator[str]:
    yield f"Total metering time {seconds(of.seconds)}; {digits(of.terminal_hours)} terminal hr"
    yield "all of it counted by the host itself (plain)"
    yield f"cur # dialed {count(of.dialed_now)}, ave # dialed {digits(of.dialed)}"
    if of.idle:
        yield f"front end idle {', '.join(map(share, of.idle))} (each of its threads)"
    yield ""
    least = None if of.least_block is None else float(of.least_block)
    yield from known_row("min output msg size to cause block", least, "chars (ever)", NOTHING_LEFT_OVER)
    yield from known_row("ave output msg size to cause block", of.ave_block, "chars", NOTHING_LEFT_OVER)
    yield from known_row("ave output message", of.ave_output_message, "chars", "there was no output")
    yield from known_row("ave input message", of.ave_input_message, "chars", "there was no input")
    average = NO_EVENT if of.interrupt_average is None else seconds(of.interrupt_average)
    yield f"ave interrupt time {average}, {share(of.interrupt_share)} of one CPU"
    yield f"max interrupt time {seconds(of.interrupt_longest)} (ever)"
    yield f"buffer pool size {count(of.pool_size)}, ave # free {count(of.pool_free)} characters"
    yield f"% buffer space used {digits(100 * of.pool_used_share)}"
    yield from known_row("ave r-a message", of.ahead_average, "chars", NOTHING_AHEAD)
    yield f"complete input messages in buffers, ave {digits(of.ahead_waiting)}"
    ahead = f"{NONE}: there was no input" if of.ahead_share is None else share(of.ahead_share)
    yield f"characters input in read-ahead {ahead}"
    yield f"{count(of.reading)} channels reading, {count(of.writing)} channels writing"


def character_rows(of: FrontEnd) -> Iterator[str]:
    yield f"{count(of.characters_out)} chars output ({count(of.raw_out)} raw), {count(of.messages_out)} messages"
    yield f"{count(of.characters_in)} chars input ({count(of.raw_in)} raw), {count(of.messages_in)} messages"
    yield "conversion factors"
    yield from known_row("  output", of.output_conversion, "(converted/ascii)", "there was no output")
    yield from known_row("  input", of.input_conversion, "(ascii/raw)", "nothing was typed")
    yield f"output restarts {count(of.output_restarts)}, output space overflows {count(of.space_overflows)}"


def between_rows(of: FrontEnd) -> Iterator[str]:
    widths = (14, 14)
    yield in_columns("", 20, ("per-sys", "per-terminal"), widths)
    for name, per_system in of.atb.items():
        each = of.per_terminal(name)
        cells = ("—", "—") if per_system is None or each is None else (seconds(per_system), seconds(each))
        yield in_columns(f"ATB {name}", 20, cells, widths) + (f"  {NO_EVENT}" if per_system is None else "")
    for name, total in (("input rate", of.characters_in), ("output rate", of.characters_out)):
        rate = total / of.seconds
        each_rate = f"{digits(rate / of.dialed)}/s" if of.dialed else "—"
        yield in_columns(name, 20, (f"{digits(rate)}/s", each_rate), widths)


def processing_rows(of: FrontEnd) -> Iterator[str]:
    interrupts = of.interrupts_per_minute * of.seconds / 60
    yield f"# interrupts {count(interrupts)}, interrupts/minute {count(of.interrupts_per_minute)}"
    parts = (f"{name} {NO_EVENT if value is None else digits(value)}" for name, value in of.characters_per_ms.items())
    yield f"characters per ms of interrupt time: {', '.join(parts)}"
    widths = (12, 12, 14)
    yield in_columns("", 8, ("# calls", "ave. time", "chars./msec."), widths)
    for name, calls in (("read:", of.reads), ("write:", of.writes)):
        rate = "—" if calls.characters_per_ms is None else digits(calls.characters_per_ms)
        yield in_columns(name, 8, (count(calls.count), seconds(calls.average), rate), widths)


def known_row(label: str, value: float | None, unit: str, why: str) -> Iterator[str]:
    """A row, or the reason why its figure is missing."""
    yield f"{label} {NONE}: {why}" if value is None else f"{label} {digits(value)} {unit}"
