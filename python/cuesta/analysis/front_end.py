"""`tty_meters` of the built-in host: what its front end did over a measurement interval, per system and per terminal.

The rows are those of the 1979 listing that have an equivalent; docs/host.md names the others. A time per terminal is
the time per system multiplied by the mean number of terminals, which is connected time ÷ elapsed time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul

from cuesta.analysis.rows_within import rows_within
from cuesta.ledger import HostRow, Recorded, StepTimes
from cuesta.records.rows import HostSeriesRow, LineCalls


@dataclass(frozen=True, slots=True)
class Calls:
    count: float
    average: float | None
    """Seconds."""
    characters_per_ms: float | None
    """Characters on the line for each millisecond in them."""


@dataclass(frozen=True, slots=True)
class FrontEnd:
    """Figures of an interval. Times are seconds; None = no meter data: there was nothing to divide by."""

    seconds: float
    terminal_hours: float
    dialed_now: int
    dialed: float
    """Mean number of terminals."""
    messages_in: float
    messages_out: float
    characters_in: float
    """Characters that the service received."""
    characters_out: float
    """Characters that the service wrote."""
    raw_in: float
    """Characters as typed."""
    raw_out: float
    """Characters as sent on the lines, telnet and echoes included."""
    ave_input_message: float | None
    ave_output_message: float | None
    output_conversion: float | None
    """Characters sent ÷ characters that the service wrote or the front end echoed."""
    input_conversion: float | None
    """Characters received ÷ characters typed: the rest was erased or killed."""
    least_block: int | None
    """Fewest characters that a line ever left over."""
    ave_block: float | None
    """Characters that a line left over when it did not take all."""
    interrupt_average: float | None
    interrupt_longest: float
    interrupt_share: float
    """Time in interrupts ÷ elapsed time of one CPU."""
    interrupts_per_minute: float
    pool_size: int
    pool_free: float
    """Mean over time, from the values at the ends of rows."""
    pool_used_share: float
    space_overflows: float
    """Times that a line passed on less because the pool had no room."""
    output_restarts: float
    """Times that a line did not take everything and was written to again."""
    ahead_average: float | None
    """Characters of a message that came before it was asked for."""
    ahead_share: float | None
    """Characters of such messages ÷ all characters."""
    ahead_waiting: float
    """Mean number of such messages that wait, by Little's law."""
    reading: int
    """Lines whose service waits for a message, when the last row began."""
    writing: int
    """Lines that had not taken all their output when the last row began."""
    atb: dict[str, float | None]
    """Average time between events, per system."""
    characters_per_ms: dict[str, float | None]
    """Characters for each millisecond of interrupt time."""
    reads: Calls
    writes: Calls
    idle: list[float]
    """Mean idle share of each of the front end's threads."""

    def per_terminal(self, event: str) -> float | None:
        """The average time between events of one terminal."""
        between = self.atb[event]
        return None if between is None else between * self.dialed


def sum_front_end(rows: Sequence[HostRow]) -> FrontEnd | None:
    """Sum whole rows up; none if there are none."""
    return Sums([(row, 1.0) for row in rows]).figures() if rows else None


def derive_front_end(recorded: Recorded, step: StepTimes) -> FrontEnd | None:
    """Sum up the built-in host's rows of a step's measurement interval; none where it has none, or only old ones."""
    shares = rows_within(recorded.host, step)
    metered_less = any(row.figures.read_ahead.waited_seconds is None for row, _ in shares)  # by earlier versions
    return Sums(shares).figures() if shares and not metered_less else None


@dataclass(frozen=True)
class Sums:
    """Rows, each with the share of it that counts."""

    shares: Sequence[tuple[HostRow, float]]

    def total(self, count: Callable[[HostSeriesRow], float | None]) -> float:
        """Sum up a count; rows that lack it count nothing."""
        return float(sum((count(row.figures) or 0) * share for row, share in self.shares))

    def mean(self, level: Callable[[HostSeriesRow], float]) -> float:
        """Average a level over the time."""
        weighted = sum(level(row.figures) * row.length * share for row, share in self.shares)
        return weighted / sum(row.length * share for row, share in self.shares)

    def figures(self) -> FrontEnd:
        last, total = self.shares[-1][0].figures, self.total
        # At the very end users hang up: the row before tells how many there were.
        lines = self.shares[-2:][0][0].figures.lines
        seconds = sum(row.length * share for row, share in self.shares)
        interrupts, in_interrupts = total(lambda row: row.wakes.count), total(lambda row: row.wakes.seconds)
        characters_in, characters_out = total(lambda row: row.characters.in_), total(lambda row: row.characters.out)
        ahead, blocks = total(lambda row: row.read_ahead.messages), total(lambda row: row.output_blocks.count)
        connected = total(lambda row: row.lines.line_seconds)
        free, size = self.mean(lambda row: row.pool.free), last.pool.size
        events = {
            "output blocks": blocks,
            "interrupts": interrupts,
            "dialups": total(lambda row: row.lines.opened),
            "cycle": total(lambda row: row.messages.in_),
            "reads": total(lambda row: row.reads.calls),
            "writes": total(lambda row: row.writes.calls),
            "read-ahead": ahead,
        }
        return FrontEnd(
            seconds=seconds,
            terminal_hours=connected / 3600,
            dialed_now=lines.connected,
            dialed=connected / seconds,
            messages_in=total(lambda row: row.messages.in_),
            messages_out=total(lambda row: row.messages.out),
            characters_in=characters_in,
            characters_out=characters_out,
            raw_in=total(lambda row: row.characters.typed),
            raw_out=total(lambda row: row.characters.line_out),
            ave_input_message=divide(characters_in, total(lambda row: row.messages.in_)),
            ave_output_message=divide(characters_out, total(lambda row: row.messages.out)),
            output_conversion=divide(
                total(lambda row: row.characters.line_out), characters_out + total(lambda row: row.characters.echoed)
            ),
            input_conversion=divide(characters_in, total(lambda row: row.characters.typed)),
            least_block=last.output_blocks.least,
            ave_block=divide(total(lambda row: row.output_blocks.characters), blocks),
            interrupt_average=divide(in_interrupts, interrupts),
            interrupt_longest=last.wakes.longest,
            interrupt_share=in_interrupts / seconds,
            interrupts_per_minute=60 * interrupts / seconds,
            pool_size=size,
            pool_free=free,
            pool_used_share=1 - free / size if size else 0.0,
            space_overflows=total(lambda row: row.pool.overflows),
            output_restarts=blocks,
            ahead_average=divide(total(lambda row: row.read_ahead.characters), ahead),
            ahead_share=divide(total(lambda row: row.read_ahead.characters), characters_in),
            ahead_waiting=total(lambda row: row.read_ahead.waited_seconds) / seconds,
            reading=lines.asking or 0,
            writing=lines.blocked or 0,
            atb={name: divide(seconds, count) for name, count in events.items()},
            characters_per_ms={
                "input": divide(characters_in, 1e3 * in_interrupts),
                "output": divide(characters_out, 1e3 * in_interrupts),
                "total": divide(characters_in + characters_out, 1e3 * in_interrupts),
            },
            reads=self.calls(lambda row: row.reads, lambda row: row.characters.line_in),
            writes=self.calls(lambda row: row.writes, lambda row: row.characters.line_out),
            idle=self.idle(),
        )

    def calls(self, calls: Callable[[HostSeriesRow], LineCalls], characters: Callable[[HostSeriesRow], int]) -> Calls:
        count, seconds = self.total(lambda row: calls(row).calls), self.total(lambda row: calls(row).seconds)
        return Calls(count, divide(seconds, count), divide(self.total(characters), 1e3 * seconds))

    def idle(self) -> list[float]:
        """The mean idle share of each thread whose CPU time is known throughout."""
        by_thread = zip(*(row.figures.cpu.threads for row, _ in self.shares), strict=False)
        idle = ([thread.idle if thread else None for thread in rows] for rows in by_thread)
        weights = [row.length * share for row, share in self.shares]
        known = [[share for share in shares if share is not None] for shares in idle]
        return [sum(map(mul, shares, weights)) / sum(weights) for shares in known if len(shares) == len(weights)]


def divide(value: float, base: float) -> float | None:
    return value / base if base else None
