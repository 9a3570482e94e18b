"""Checks that a search can find the largest load that meets an objective."""

from cuesta.errors import InputError, UsageError
from cuesta.figures.limit import Limit
from cuesta.ledger.run_folder import PARTS, PHASES
from cuesta.plan import Settings

FALLING = ("fairness.jain", "host.cpu.idle", "characters.in_per_s_per_user")
"""Figures that fall as the load grows: an objective may ask for more of these, and of no others."""
OF_OPENINGS = (*PHASES, *(f"opening.{part}" for part in PARTS))
"""Figures of which only users whose line is opened have values."""
OF_THE_DRIVER = ("lateness", "driver")
"""Figures, by their first word, that tell how well the driver did."""


def check_objective(settings: Settings) -> None:
    """Raise UsageError or InputError if the plan has no limit, or one that does not bound the load from above."""
    if not settings.limits:
        raise UsageError("a search needs an objective", "give one, such as --limit 'echo.p95 < 100ms'")
    opens_lines = any(group.load.arrivals == "sessions" for group in settings.group)
    for limit in settings.limits:
        _check_figure(limit, opens_lines=opens_lines)
        _check_direction(limit)


def _check_figure(limit: Limit, *, opens_lines: bool) -> None:
    metric = limit.figure.metric
    if metric.partition(".")[0] in OF_THE_DRIVER:
        why = f"{limit.figure} is the driver's, and says nothing about the host"
        raise InputError(f"limit `{limit}`: {why}", "a trial with a driver too late or too busy does not count anyway")
    if metric in OF_OPENINGS and not opens_lines:
        raise InputError(
            f"limit `{limit}`: users keep their lines from trial to trial, so that only the first trial has it",
            "give a load of sessions, each with a line of its own: --load open:2/s:sessions",
        )


def _check_direction(limit: Limit) -> None:
    """The figure must move towards its bound as the load grows, and some load must meet it."""
    asks_for_more, falls = limit.comparison in {">", ">="}, limit.figure.metric in FALLING
    if falls and not asks_for_more:
        why = f"{limit.figure} falls as the load grows, so that no load is the largest to meet it"
        raise InputError(f"limit `{limit}`: {why}", "give a lower bound (`>`); `cuesta run` takes this limit")
    if asks_for_more and not falls:
        why = f"{limit.figure} does not fall as the load grows, so that no load is the largest to meet it"
        raise InputError(
            f"limit `{limit}`: {why}", "give an upper bound, such as 'response.p95 < 1s'; `cuesta run` takes this limit"
        )
    if not asks_for_more and limit.value <= 0 and (limit.comparison == "<" or limit.figure.is_duration):
        raise InputError(f"limit `{limit}`: no load can meet it", "give a bound above 0")
