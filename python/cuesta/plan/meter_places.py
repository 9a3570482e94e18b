"""The text of `--meters`: which hosts are metered, where, and by which tier.

METERS = HOST {"," HOST}                     the first is the host of limits such as `host.cpu.usr`
HOST   = [NAME "="] WHERE
WHERE  = "auto" | "plain" | "none" | TIER | [TIER ":"] SUBJECT | URL

A subject such as `cpus:0,3` has commas of its own, so a comma ends a host only where another begins.
"""

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from cuesta.plan.reading import read_text, refuse
from cuesta.target import is_address, without_passwords

TRACED = ("exact", "calls")
"""Tiers that trace the kernel. A subject may follow: `exact:pid:7`."""
SUBJECT = re.compile(r"machine|pid:[1-9]\d*|cgroup:.+|cpus:[\d,-]+|cpus:host")
_NAME = r"[\w.-]{1,64}="
_BEGIN = (
    r"(?:ssh|https?)://|(?:(?:exact|calls):)?(?:pid:|cgroup:|cpus:|(?:auto|plain|none|exact|calls|machine)\s*(?:,|$))"
)
_BETWEEN = re.compile(rf"\s*,\s*(?=(?:{_NAME})?(?:{_BEGIN}))", re.ASCII)
_NAMED = re.compile(rf"({_NAME})(.*)", re.ASCII)
HERE = "here"
"""The name of a host that is metered on this machine, unless it is given another."""


@dataclass(frozen=True, slots=True)
class MeteredHost:
    name: str
    where: str
    """Such as `auto`, `exact:pid:7`, `ssh://farm`."""


def list_hosts(meters: str) -> list[MeteredHost]:
    """Split a value of --meters into its hosts. One without a name has that of its machine."""
    return [_read_host(text) for text in _BETWEEN.split(meters)]


def _read_host(text: str) -> MeteredHost:
    if named := _NAMED.fullmatch(text):
        return MeteredHost(named[1].removesuffix("="), named[2])
    machine = urlsplit(text).hostname if "://" in text else None
    name = re.sub(r"[^\w.-]+", "-", machine or HERE, flags=re.ASCII).strip("-")[:64]
    return MeteredHost(name or HERE, text)


def hide_passwords(meters: str) -> str:
    """A value of --meters with stars in place of passwords. A URL alone would end at the last `@` of all of them."""
    return ",".join(map(without_passwords, _BETWEEN.split(meters)))


def read_meters(value: object) -> str:
    """Read a value of --meters, or a list of them. Raises ValueError with what is wrong."""
    text = ",".join(map(read_text, value)) if isinstance(value, list | tuple) else read_text(value)
    hosts = list_hosts(text)
    for host in hosts:
        _check_place(host.where)
    if text != "none" and any(host.where == "none" for host in hosts):
        refuse("`none` meters no host: write it alone")
    name, times = Counter(host.name for host in hosts).most_common(1)[0]
    if times > 1:
        refuse(f"{times} hosts are named `{name}`: name them yourself, as in {name}-1=WHERE,{name}-2=WHERE")
    return text


def _check_place(where: str) -> None:
    """Raise ValueError if nothing can be metered there."""
    tier, subject = tier_and_subject(where)
    if SUBJECT.fullmatch(subject) or (tier and subject == "auto") or where in ("auto", "plain", "none"):
        return
    parts = urlsplit(where)
    if parts.scheme == "ssh" and parts.password is not None:
        refuse("ssh logs in with a key or the agent: leave the password out")
    if parts.scheme not in ("ssh", "http", "https") or not parts.hostname:
        refuse("there are no such meters")
    for bastion in parse_qs(parts.query).get("from", []):
        if not is_address(bastion):
            refuse(f"from={bastion}: expected the address of a bastion as this host sees it, such as from=10.0.0.4")
    _ = parts.port  # raises ValueError if it is no port
    if "," in parts.netloc.rpartition("@")[2]:
        refuse(f"no host begins after its comma: write {parts.scheme}:// before each")


def tier_and_subject(where: str) -> tuple[str | None, str]:
    """Split the meters of a host on this machine: `exact:pid:7` is (`exact`, `pid:7`), `exact` (`exact`, `auto`)."""
    tier, colon, subject = where.partition(":")
    if tier not in TRACED:
        return None, where
    return tier, subject if colon else "auto"


def tracing_tier(where: str) -> str | None:
    """The tier in the meters of a host that traces the kernel: `exact`, `calls` or None."""
    if where.startswith("ssh:"):
        tier = parse_qs(urlsplit(where).query).get("tier", [""])[-1]
        return tier if tier in TRACED else None
    return tier_and_subject(where)[0]
