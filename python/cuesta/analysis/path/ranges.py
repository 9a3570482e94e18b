"""Ranges of a TCP stream: the bytes behind one offset, up to another. Offsets are modulo 2^32."""

from dataclasses import dataclass

MODULUS = 1 << 32
CONTROL = 1 << 29
"""Of a key whose port and offset, mixed, are below this the tracer follows nothing."""


@dataclass(frozen=True, slots=True)
class Range:
    """The bytes behind `start`, up to `end`; none if both are equal."""

    start: int
    end: int

    @property
    def length(self) -> int:
        return measure(self.start, self.end)

    def holds(self, offset: int) -> bool:
        """Whether the byte that ends at an offset is in the range."""
        return 0 < measure(self.start, offset) <= self.length

    def overlaps(self, other: "Range") -> bool:
        if not (self.length and other.length):
            return False
        return measure(self.start, other.start) < self.length or measure(other.start, self.start) < other.length


def measure(start: int, end: int) -> int:
    """How many bytes an offset is behind another."""
    return (end - start) % MODULUS


def is_control(port: int | None, key: int) -> bool:
    """Whether the tracer leaves a segment that ends at this offset out, so that the price of following can be told."""
    if port is None or key == 0:
        return False
    mixed = (key ^ port * 2_654_435_761 % MODULUS) * 2_246_822_519 % MODULUS
    return (mixed ^ mixed >> 15) * 3_266_489_917 % MODULUS < CONTROL
