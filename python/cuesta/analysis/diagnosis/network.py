"""Queues and tables of the kernel's network stack."""

from cuesta.analysis.diagnosis.observed import HostReadings, Observed
from cuesta.analysis.diagnosis.rule import Finding, cause
from cuesta.units import count, many

REPEATED = ((1.0, 1.2), (3.0, 3.4), (7.0, 7.6))
"""Seconds after which a connection is accepted whose first, second or third SYN was dropped: TCP repeats it after 1, 3
and 7 s (RFC 6298)."""
SLOW = 0.5
"""Seconds from which on connecting is slow."""
MOST_OTHERS = 0.2
"""Share of the slow connections that may have taken another time: a slow host spreads them."""
FEWEST = 2
"""Fewest connections with a repeated SYN that are no chance."""


@cause(
    "full accept queue",
    setting="the backlog of the service (listen(2); of a socket unit Backlog) and `sysctl net.core.somaxconn`, a "
    "service that accepts faster, or users who start further apart (--stagger)",
    outside="connecting takes 1, 3 or 7 s, or times out",
    host="`ListenOverflows` of `/proc/net/netstat`",
    proved="a listener that accepts nothing",
)
def accept_queue(observed: Observed) -> Finding | None:
    overflows, repeated, unanswered = count_overflows(observed), count_repeated(observed), observed.never_connected
    slow = f"{many(repeated, 'connection')} took 1, 3 or 7 s: SYNs were repeated" if repeated else ""
    if overflows and (repeated or unanswered):
        lost = slow or f"{many(unanswered, 'connection')} timed out"
        return Finding(f"{lost}, and the host's accept queues were full {many(overflows, 'time')} (ListenOverflows)")
    return Finding(f"{slow}, as where an accept queue is full or packets are lost", certain=False) if slow else None


def count_overflows(observed: Observed) -> int:
    return sum(host.total(lambda report: report.limits.listen_overflows) for host in observed.hosts)


def count_repeated(observed: Observed) -> int:
    """Connections whose times show that their SYNs were repeated; 0 if others were as slow, or too few had it."""
    slow = [(edge, number) for edge, number in observed.ends_of("connect") if edge >= SLOW]
    repeated = sum(number for edge, number in slow if any(low <= edge <= high for low, high in REPEATED))
    others = sum(number for _, number in slow) - repeated
    return repeated if repeated >= FEWEST and others <= MOST_OTHERS * (repeated + others) else 0


@cause(
    "full SYN queue",
    setting="`sysctl net.ipv4.tcp_max_syn_backlog` and the service's backlog; a flood, if nobody else connects",
    outside="connecting takes 1, 3 or 7 s, or times out, although accept queues are not full",
    host="`TCPReqQFullDoCookies` of `/proc/net/netstat`",
    proved="counters made by hand",
)
def syn_queue(observed: Observed) -> Finding | None:
    cookies = sum(host.total(lambda report: report.limits.syn_cookies) for host in observed.hosts)
    if not cookies or count_overflows(observed) or not (count_repeated(observed) or observed.never_connected):
        return None
    return Finding(
        f"connections were slow or timed out, and the host sent {many(cookies, 'SYN cookie')}", certain=False
    )


@cause(
    "full table of connections",
    setting="`sysctl net.netfilter.nf_conntrack_max`, or rules that do not track these connections (NOTRACK)",
    outside="connecting times out, and lines stall",
    host="`nf_conntrack_count` at `nf_conntrack_max`, `drop` of `/proc/net/stat/nf_conntrack`",
    proved="counters made by hand: no rule of this machine tracks connections",
)
def conntrack(observed: Observed) -> Finding | None:
    full = next(filter(None, map(describe_table, observed.hosts)), None)
    drops = sum(host.total(lambda report: report.limits.conntrack_drops) for host in observed.hosts)
    if not full:
        return None
    dropped = f", and {many(drops, 'packet')} were dropped" if drops else ""
    return Finding(f"{full}{dropped}", certain=bool(drops))


def describe_table(host: HostReadings) -> str | None:
    """How many connections a host tracked, if that was all that it may; None if not."""
    tracked = host.highest(lambda report: report.limits.conntrack)
    most = host.highest(lambda report: report.limits.conntrack_limit)
    if tracked is None or not most or tracked < most:
        return None
    return f"{count(tracked)} of {count(most)} connections were tracked{host.where}"
