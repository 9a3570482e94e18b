"""What a host may run out of, by its meters, as text."""

from collections.abc import Iterator

from cuesta.records.meter_report import Limits, MeterReport
from cuesta.units import count, seconds

LEVELS = {
    "pseudo-terminals": ("ptys", "pty_limit"),
    "open files": ("files", "file_limit"),
    "tracked connections": ("conntrack", "conntrack_limit"),
}
"""Levels and their limits, by label."""
EVENTS = {
    "accept queue full": "listen_overflows",
    "connections dropped": "listen_drops",
    "SYN queue full": "syn_cookies",
    "untracked, dropped": "conntrack_drops",
    "killed for memory": "oom_kills",
    "over memory.high": "memory_high",
    "processes refused": "pids_refused",
}
"""What should not happen, by label."""


def limit_rows(meter_report: MeterReport) -> Iterator[str]:
    """Rows of levels that have a limit, of logins, and of what was refused."""
    limits = meter_report.limits
    levels = [write_level(limits, label, *names) for label, names in LEVELS.items()]
    if known := [level for level in levels if level]:
        yield ", ".join(known)
    yield from describe_logins(limits)
    counted = {label: getattr(limits, name).value for label, name in EVENTS.items()}
    if refused := [f"{label} {count(each.count)}" for label, each in counted.items() if each and each.count]:
        yield ", ".join(refused)


def write_level(limits: Limits, label: str, used: str, most: str) -> str:
    level, limit = getattr(limits, used).value, getattr(limits, most).value
    return "" if level is None or limit is None else f"{label} {count(level)} of {count(limit)}"


def describe_logins(limits: Limits) -> Iterator[str]:
    """The connections to sshd that have not logged in, and when it refuses more."""
    now, start, full = limits.startups.value, limits.startups_start.value, limits.startups_full.value
    if now is None or start is None or full is None:
        return
    rate = "?" if limits.startups_rate.value is None else count(limits.startups_rate.value)
    grace = f", each at most {seconds(limits.login_grace.value)}" if limits.login_grace.value else ""
    yield f"logins under way at sshd {count(now)}, MaxStartups {count(start)}:{rate}:{count(full)}{grace}"
