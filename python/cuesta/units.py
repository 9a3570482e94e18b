"""How figures are written for people: three digits and the unit that fits."""

from collections.abc import Mapping

ABSENT = "—"


def seconds(value: float | None) -> str:
    """Write a duration, as `341 ms`."""
    if value is None:
        return ABSENT
    size = abs(value)
    if size >= 99.95:
        return signed(f"{value:,.0f} s")
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if size * factor >= 0.9995:
            return f"{digits(value * factor)} {unit}"
    return signed(f"{value * 1e9:.0f} ns")


def digits(value: float) -> str:
    """Write a number with three significant digits, thousands whole."""
    size = abs(value)
    places = 2 if size < 9.995 else 1 if size < 99.95 else 0
    return signed(f"{value:,.{places}f}")


def share(value: float | None) -> str:
    """Write a share, as `12.3 %`."""
    if value is None:
        return ABSENT
    percent = value * 100
    places = 2 if 0 < abs(percent) < 0.995 else 1 if abs(percent) < 99.95 else 0
    return signed(f"{percent:.{places}f} %")


def signed(number: str) -> str:
    """Give a number a true minus sign."""
    return number.replace("-", "−")


def count(value: float) -> str:
    """Write a whole number, as `12,345`."""
    return f"{value:,.0f}"


def short_count(value: int) -> str:
    """Write a whole number in at most 7 characters, millions as `12.3 M`."""
    return count(value) if value < 1_000_000 else f"{digits(value / 1e6)} M"


def named(counts: Mapping[str, int]) -> str:
    """List counts behind their names."""
    return ", ".join(f"{name} {count(number)}" for name, number in counts.items())


def many(number: int, thing: str) -> str:
    """Write a number of things: `1 user`, `96 users`."""
    return f"{count(number)} {thing if number == 1 else thing + 's'}"
