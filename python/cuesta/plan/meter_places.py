"""The text of `--meters`: where the host is metered, and by which tier."""

import re
from urllib.parse import parse_qs, urlsplit

TRACED = ("exact", "calls")
"""Tiers that trace the kernel. A subject may follow: `exact:pid:7`."""
SUBJECT = re.compile(r"machine|pid:[1-9]\d*|cgroup:.+|cpus:[\d,-]+|cpus:host")


def tier_and_subject(meters: str) -> tuple[str | None, str]:
    """Split a value of --meters for this machine: `exact:pid:7` is (`exact`, `pid:7`), `exact` (`exact`, `auto`)."""
    tier, colon, subject = meters.partition(":")
    if tier not in TRACED:
        return None, meters
    return tier, subject if colon else "auto"


def tracing_tier(meters: str) -> str | None:
    """The tier in a value of --meters that traces the kernel: `exact`, `calls` or None."""
    if meters.startswith("ssh:"):
        tier = parse_qs(urlsplit(meters).query).get("tier", [""])[-1]
        return tier if tier in TRACED else None
    return tier_and_subject(meters)[0]
