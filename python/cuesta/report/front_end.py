"""The front end's figures in the form of `tty_meters` of 1979: the same lines and order, with correct counts."""

from collections.abc import Iterator

from cuesta.analysis.front_end import FrontEnd
from cuesta.columns import in_columns
from cuesta.units import count, digits, seconds, share

NONE = "no meter data"
NO_EVENT = f"{NONE}: there was none"
NOTHING_LEFT_OVER = "every line took all that it was given"
NOTHING_AHEAD = "nothing was read ahead"


def text(meters: FrontEnd) -> str:
    parts = (head_rows, character_rows, between_rows, processing_rows)
    return "\n\n".join("\n".join(part(meters)) for part in parts)


def write_brief(meters: FrontEnd) -> str:
    taken, answered = (f"{digits(number / meters.seconds)}/s" for number in (meters.messages_in, meters.messages_out))
    busy = f"; its busiest thread was {share(1 - min(meters.idle))} busy" if meters.idle else ""
    there = f"{digits(meters.dialed)} terminals on average for {seconds(meters.seconds)}"
    return f"{there}; messages: {taken} taken, {answered} answered{busy}. All of its meters: --tty-meters"


def head_rows(meters: FrontEnd) -> Iterator[str]:
    yield f"Total metering time {seconds(meters.seconds)}; {digits(meters.terminal_hours)} terminal hr"
    yield "all of it counted by the host itself (plain)"
    yield f"cur # dialed {count(meters.dialed_now)}, ave # dialed {digits(meters.dialed)}"
    if meters.idle:
        yield f"front end idle {', '.join(map(share, meters.idle))} (each of its threads)"
    yield ""
    least = None if meters.least_block is None else float(meters.least_block)
    yield from known_row("min output msg size to cause block", least, "chars (ever)", NOTHING_LEFT_OVER)
    yield from known_row("ave output msg size to cause block", meters.ave_block, "chars", NOTHING_LEFT_OVER)
    yield from known_row("ave output message", meters.ave_output_message, "chars", "there was no output")
    yield from known_row("ave input message", meters.ave_input_message, "chars", "there was no input")
    average = NO_EVENT if meters.interrupt_average is None else seconds(meters.interrupt_average)
    yield f"ave interrupt time {average}, {share(meters.interrupt_share)} of one CPU"
    yield f"max interrupt time {seconds(meters.interrupt_longest)} (ever)"
    yield f"buffer pool size {count(meters.pool_size)}, ave # free {count(meters.pool_free)} characters"
    yield f"% buffer space used {digits(100 * meters.pool_used_share)}"
    yield from known_row("ave r-a message", meters.ahead_average, "chars", NOTHING_AHEAD)
    yield f"complete input messages in buffers, ave {digits(meters.ahead_waiting)}"
    ahead = f"{NONE}: there was no input" if meters.ahead_share is None else share(meters.ahead_share)
    yield f"characters input in read-ahead {ahead}"
    yield f"{count(meters.reading)} channels reading, {count(meters.writing)} channels writing"


def character_rows(meters: FrontEnd) -> Iterator[str]:
    sent, taken = count(meters.characters_out), count(meters.characters_in)
    yield f"{sent} chars output ({count(meters.raw_out)} raw), {count(meters.messages_out)} messages"
    yield f"{taken} chars input ({count(meters.raw_in)} raw), {count(meters.messages_in)} messages"
    yield "conversion factors"
    yield from known_row("  output", meters.output_conversion, "(converted/ascii)", "there was no output")
    yield from known_row("  input", meters.input_conversion, "(ascii/raw)", "nothing was typed")
    yield f"output restarts {count(meters.output_restarts)}, output space overflows {count(meters.space_overflows)}"


def between_rows(meters: FrontEnd) -> Iterator[str]:
    widths = (14, 14)
    yield in_columns("", 20, ("per-sys", "per-terminal"), widths)
    for name, per_system in meters.atb.items():
        per_terminal = meters.per_terminal(name)
        cells = (
            ("—", "—") if per_system is None or per_terminal is None else (seconds(per_system), seconds(per_terminal))
        )
        yield in_columns(f"ATB {name}", 20, cells, widths) + (f"  {NO_EVENT}" if per_system is None else "")
    for name, total in (("input rate", meters.characters_in), ("output rate", meters.characters_out)):
        rate = total / meters.seconds
        each_rate = f"{digits(rate / meters.dialed)}/s" if meters.dialed else "—"
        yield in_columns(name, 20, (f"{digits(rate)}/s", each_rate), widths)


def processing_rows(meters: FrontEnd) -> Iterator[str]:
    interrupts = meters.interrupts_per_minute * meters.seconds / 60
    yield f"# interrupts {count(interrupts)}, interrupts/minute {count(meters.interrupts_per_minute)}"
    parts = (
        f"{name} {NO_EVENT if value is None else digits(value)}" for name, value in meters.characters_per_ms.items()
    )
    yield f"characters per ms of interrupt time: {', '.join(parts)}"
    widths = (12, 12, 14)
    yield in_columns("", 8, ("# calls", "ave. time", "chars./msec."), widths)
    for name, calls in (("read:", meters.reads), ("write:", meters.writes)):
        rate = "—" if calls.characters_per_ms is None else digits(calls.characters_per_ms)
        yield in_columns(name, 8, (count(calls.count), seconds(calls.average), rate), widths)


def known_row(label: str, value: float | None, unit: str, why: str) -> Iterator[str]:
    """A row, or the reason why its figure is missing."""
    yield f"{label} {NONE}: {why}" if value is None else f"{label} {digits(value)} {unit}"
