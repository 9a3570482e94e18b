"""The counts of a load step: transactions, keys, failures, what was left waiting, and characters on the lines.

None is a figure that was not measured; it is never written as zero.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Better, Unit, declare, figure_table
from cuesta.records.rows import ArrivalCounts, WaitSample
from cuesta.units import count


@figure_table
class Transactions:
    """Transactions that ended, counted."""

    count: int = declare("transactions that ended", Unit.COUNT, "transactions", column="transactions")
    per_s: float | None = declare(
        "transactions that ended, per second", Unit.PER_SECOND, "transactions/s", other_name="throughput"
    )


@figure_table
class Keystrokes:
    """Keys that were sent, counted."""

    count: int = declare("keys that were sent", Unit.COUNT, "keys", column="keystrokes")
    per_s: float | None = declare("keys that were sent, per second", Unit.PER_SECOND, "keys/s", other_name="keystrokes")


@figure_table
class Frames:
    """The frames that showed keys, where the screen times keys. Each ends at its mark, or when the line is quiet."""

    keys: int = declare("keys that these frames showed", Unit.COUNT, "keys shown by frames", Better.MORE)
    per_key: float | None = declare(
        "frames drawn for a key: those that began after it and before the next key, while a key waited or soon after",
        Unit.COUNT,
        "frames a key",
    )
    bytes_per_key: float = declare("bytes of the frames drawn for a key", Unit.BYTES, "bytes a key")
    shared_keys: int = declare("keys that a frame showed together with others", Unit.COUNT, "keys that shared a frame")


@figure_table
class Errors:
    """Failures of the host and of lines."""

    count: int = declare("failures of the host and of lines", Unit.COUNT, "errors", column="errors")
    by_name: Mapping[str, int] = declare("the number of failures by name")
    before: Mapping[str, int] = declare("failures during ramp-up and settling, by name; no other figure includes them")
    said: Mapping[str, str] = declare(
        "of the first failure of each name: why no line was opened, how its program ended, what was said last"
    )
    rate: float | None = declare("errors / (errors + transactions)", Unit.SHARE, "error rate", default=None)


def describe_wait(sample: WaitSample) -> str:
    """What was waited for, and where that stands."""
    return f"{sample.condition} ({sample.place})" if sample.place else sample.condition


@figure_table
class Unfinished:
    """Transactions under way when measuring ended. Distributions have them as censored values."""

    count: int = declare("transactions under way when measuring ended", Unit.COUNT, "unfinished transactions")
    oldest: float = declare("time since the due time of the oldest of them", Unit.SECONDS, "oldest unfinished")


@dataclass(frozen=True, slots=True, kw_only=True)
class DueAccount(ArrivalCounts):
    """What became of the passes or sessions of an open load that were due in the measurement interval."""

    adds_up: Annotated[
        bool, About("whether done, under way, waiting and skipped add up to `count`; each is counted where it happens")
    ]

    @property
    def accounted(self) -> int:
        return self.done + self.under_way + self.waiting + self.skipped

    @property
    def never_begun(self) -> int:
        return self.waiting + self.skipped

    def __str__(self) -> str:
        """The account in a row, as an equation."""
        failed = f" (of it {count(self.failed)} given up or without a line)" if self.failed else ""
        begun = f"{count(self.done)} done{failed} + {count(self.under_way)} under way"
        rest = f"{count(self.waiting)} waiting for a user + {count(self.skipped)} skipped"
        return f"{count(self.count)} {'=' if self.adds_up else '≠'} {begun} + {rest}"


@figure_table
class Characters:
    """Characters a second: typed and shown (in, out), and what crossed the lines for it."""

    in_per_s: float | None = declare(
        "characters typed per second, in the background too", Unit.PER_SECOND, "characters typed/s"
    )
    in_per_s_per_user: float | None = declare(
        "characters typed per second, divided by the mean number of users at work, without those in the background; "
        "none if these typed too",
        Unit.PER_SECOND,
        "characters typed/s and user",
    )
    out_per_s: float | None = declare(
        "characters shown per second, in the background too", Unit.PER_SECOND, "characters shown/s"
    )
    line_in_per_s: float | None = declare(
        "bytes per second that lines carried to the host, with negotiation", Unit.PER_SECOND, "bytes to the host/s"
    )
    line_out_per_s: float | None = declare(
        "bytes per second that lines carried from the host, with negotiation and escapes",
        Unit.PER_SECOND,
        "bytes from the host/s",
    )


@figure_table
class GroupCounts:
    """What became of the transactions of one group of users."""

    group: str = declare("the group of users")
    users: int = declare("users of the group", Unit.COUNT)
    transactions: int = declare("transactions of the group that ended", Unit.COUNT)
    unanswered: int = declare(
        "transactions of the group that were given up, or stuck at the end; in a group without any "
        "transaction or echo also its users who never saw a prompt",
        Unit.COUNT,
    )
