"""Limits and look-ups of login services: how many logins at once, how long one may take, whom it looks up."""

from cuesta.analysis.diagnosis.observed import Observed
from cuesta.analysis.diagnosis.rule import Finding, cause
from cuesta.units import count, many, seconds, seconds_between

EXCEEDED = "Exceeded MaxStartups"
"""What sshd sends in place of its banner (OpenSSH's sshd.c)."""
PENALTY = "Not allowed at this time"
"""The same for an address that has a penalty (OpenSSH 9.8)."""
SLOW = 2.0
"""Seconds from which on a phase of a login waits for something: on an idle host none takes a tenth of this."""
QUICK = 0.5
"""Seconds up to which the phases before it show that the host is not slow as a whole."""
FEWEST_LOOKUPS = 2
"""Reports with a look-up of a name under way, about a second each, that are no chance: most take some ms."""
LOGIND = (24.0, 27.0)
"""Seconds for which `pam_systemd` waits for an answer of logind: D-Bus's default of 25 s."""
SAME = 0.1
"""The share within which times are the same, as those of a timer are."""
FEWEST = 3
"""Fewest equal times that are no chance."""
UNSEEDED = 256
"""Bits of entropy below which the kernel may let `getrandom` wait; a seeded kernel says 256 since Linux 5.18."""


@cause(
    "MaxStartups",
    setting="MaxStartups START:RATE:FULL in sshd_config (default 10:30:100), or let users start further apart "
    "(--stagger)",
    outside=f"connections end with `{EXCEEDED}` in place of a banner, at random",
    host="sshd's title has `n of START-FULL startups`; the rate is that of its sshd_config",
    proved="OpenSSH 9.2",
)
def max_startups(observed: Observed) -> Finding | None:
    if not observed.failed("max-startups") or not observed.said_any(EXCEEDED):
        return None
    return Finding(f'{describe_refused(observed)} "{EXCEEDED}" in place of a banner{describe_startups(observed)}')


def describe_startups(observed: Observed) -> str:
    """The three numbers of MaxStartups, as far as a host shows them."""
    for host in observed.hosts:
        start, rate, full = (
            host.highest(read)
            for read in (
                lambda report: report.limits.startups_start,
                lambda report: report.limits.startups_rate,
                lambda report: report.limits.startups_full,
            )
        )
        if start is not None and full is not None:
            return f"; it is {count(start)}:{'?' if rate is None else count(rate)}:{count(full)}{host.where}"
    return ""


@cause(
    "PerSourcePenalties",
    setting="PerSourcePenalties and PerSourcePenaltyExemptList in sshd_config, for the addresses of the nodes",
    outside=f"connections end with `{PENALTY}` in place of a banner, all of an address",
    proved="a listener that sends the text of OpenSSH 9.8: OpenSSH 9.2 has no penalties",
)
def per_source_penalties(observed: Observed) -> Finding | None:
    if not observed.failed("max-startups") or not observed.said_any(PENALTY):
        return None
    return Finding(f'{describe_refused(observed)} "{PENALTY}" in place of a banner')


def describe_refused(observed: Observed) -> str:
    refused = observed.failed("max-startups")
    return f"{count(refused)} of {many(refused + observed.lines, 'connection')} ended, the first with"


@cause(
    "limit of logins under way",
    setting="let users start further apart (--stagger), or use several addresses; dropbear takes 5 logins of an "
    "address at once (MAX_UNAUTH_PER_IP), an older sshd as many as MaxStartups says",
    outside="connections end without a banner while others log in",
    proved="dropbear 2022.83",
)
def silent_limit(observed: Observed) -> Finding | None:
    refused = observed.failed("max-startups")
    if not refused or not observed.lines or observed.said_any(EXCEEDED, PENALTY):
        return None
    return Finding(f"{describe_refused(observed)}out a banner, while others logged in", certain=False)


@cause(
    "MaxSessions",
    setting="MaxSessions in sshd_config; 0 allows no session at all",
    outside="the login succeeds, and the session is refused (`ConnectFailed`); users of Cuesta have one session to a "
    "connection",
    proved="OpenSSH 9.2",
)
def max_sessions(observed: Observed) -> Finding | None:
    refused = observed.failed("channel")
    if not refused or not observed.said_any("ConnectFailed"):
        return None
    return Finding(f"{many(refused, 'login')} succeeded, and then the host refused a session (ConnectFailed)")


@cause(
    "nologin",
    setting="remove /etc/nologin (and /run/nologin, which systemd makes while it starts and stops)",
    outside="the login succeeds, `/etc/nologin exists` or the text of that file comes, and the line ends",
    proved="OpenSSH 9.2",
)
def nologin(observed: Observed) -> Finding | None:
    phrase = observed.said_any("nologin exists", "System is booting up", "System is going down", "pam_nologin")
    return Finding(f'the host said "{phrase}" and ended the line') if phrase else None


@cause(
    "LoginGraceTime",
    setting="LoginGraceTime in sshd_config (default 120 s), or find what makes logins slow",
    outside="the host ends connections during the login, each after the same time",
    host="sshd's sshd_config has that time",
    proved="OpenSSH 9.2",
)
def login_grace_time(observed: Observed) -> Finding | None:
    ended = observed.phase("login").lost
    if ended is None or not FEWEST <= ended.count <= observed.failed("hung-up"):
        return None
    low, high = ended.min, ended.max
    if low < SLOW / 2 or high - low > SAME * high:
        return None
    text = f"the host ended {many(ended.count, 'login')}, each {seconds_between(low, high)} after its begin"
    known = [grace for host in observed.hosts if (grace := host.highest(lambda report: report.limits.login_grace))]
    grace = next((grace for grace in known if abs(low - grace) <= SAME * grace), None)
    return Finding(f"{text}; it is {seconds(grace)}" if grace else text, certain=grace is not None)


@cause(
    "reverse DNS",
    setting="UseDNS no in sshd_config, or a name server in /etc/resolv.conf that answers",
    outside="the first answer to a login takes more than 5 s; banner and key exchange are quick. (The resolver's 5 s "
    "or 10 show as up to twice that: sshd doubles a delay of its own until it is longer)",
    host="sockets that are connected to a name server, in `/proc/net/udp`",
    proved="OpenSSH 9.2 with a resolver that answers nothing",
)
def reverse_dns(observed: Observed) -> Finding | None:
    if not (slow := describe_slow(observed, "methods", before=("banner", "key_exchange"))):
        return None
    looked_up = max(
        (host.values(lambda report: report.limits.name_lookups) for host in observed.hosts), key=sum, default=[]
    )
    if sum(1 for number in looked_up if number) < FEWEST_LOOKUPS:
        return Finding(f"the first answer to a login {slow}, as look-ups of names do", certain=False)
    waited = f"while the host waited for name servers, for up to {many(round(max(looked_up)), 'answer')} at once"
    return Finding(f"the first answer to a login {slow}, {waited}")


@cause(
    "GSSAPI, Kerberos or another look-up by PAM",
    setting="GSSAPIAuthentication no in sshd_config; else the modules of PAM that sshd uses (krb5, ldap, sssd)",
    outside="a pause between the first answer to a login and its success; all before is quick",
    proved="figures made by hand, after the documented behaviour",
)
def slow_methods(observed: Observed) -> Finding | None:
    slow = describe_slow(observed, "authentication", before=("banner", "key_exchange", "methods"))
    return Finding(f"between the first answer and its success a login {slow}", certain=False) if slow else None


@cause(
    "logind or another PAM session",
    setting="see why systemd-logind does not answer (restart it after D-Bus), or take pam_systemd out of sshd's PAM "
    "sessions",
    outside="about 25 s between authentication and the session, before the shell; all before is quick",
    proved="figures made by hand, after the documented behaviour",
)
def logind(observed: Observed) -> Finding | None:
    slow = describe_slow(observed, "channel", before=("banner", "key_exchange", "methods", "authentication"))
    if not slow:
        return None
    opened = observed.phase("channel").answered
    is_logind = bool(opened and opened.count >= FEWEST and LOGIND[0] <= opened.min and opened.max <= LOGIND[1])
    return Finding(f"from its authentication to its session a login {slow}", certain=is_logind)


@cause(
    "entropy",
    setting="a source of entropy (virtio-rng, haveged, or a kernel from 5.6 on), or start after the host has booted",
    outside="a slow key exchange soon after the host's start",
    host="`/proc/sys/kernel/random/entropy_avail` below 256",
    proved="figures made by hand: kernels of today have entropy when they have booted",
)
def entropy(observed: Observed) -> Finding | None:
    if not (slow := describe_slow(observed, "key_exchange", before=("banner",))):
        return None
    least = [
        low for host in observed.hosts if (low := min(host.values(lambda report: report.limits.entropy), default=None))
    ]
    if not least or min(least) >= UNSEEDED:
        return None
    return Finding(f"the key exchange {slow}, and the kernel had {count(min(least))} of {UNSEEDED} bits of entropy")


def describe_slow(observed: Observed, phase: str, before: tuple[str, ...]) -> str | None:
    """How long a phase took, if it was slow and those before it were quick; None if not."""
    waits = observed.phase(phase)
    middle = waits.quantile(0.5)
    quick = [observed.phase(name).quantile(0.5) for name in before]
    if middle is None or middle.value < SLOW or not all(each and each.value < QUICK for each in quick):
        return None
    known = max(each.value for each in quick if each)
    at_least = "at least " if middle.at_least else ""
    which = "what came before" if len(before) > 1 else "the banner"
    return f"took {at_least}{seconds(middle.value)} (median of {count(waits.total)}; {which} {seconds(known)})"
