"""Pseudo-terminals, and services that end when they get none."""

from cuesta.analysis.diagnosis.observed import HostReadings, Observed
from cuesta.analysis.diagnosis.rule import Finding, cause
from cuesta.units import count, many

NO_TERMINAL = (
    "can't find free pty",
    "openpty",
    "All network ports in use",
    "out of pty",
    "no more pty",
    "PTY allocation request failed",
    "Server refused to allocate pty",
)
"""What telnetd, sshd, screen, tmux and Python's servers say without a terminal."""
START_LIMIT = ("start-limit-hit", "Start request repeated too quickly", "server failing (looping)")
"""What systemd and inetd say when they stop starting a service."""
ENDED_AT_ONCE = ("exited-at-start", "closed", "reset", "no-login")
"""How a line fails whose service ends while it is opened."""


@cause(
    "pty limit",
    setting="`sysctl kernel.pty.max` (of a container: `max=` of its devpts), or end programs that hold terminals",
    outside="ssh: the login succeeds, and the terminal is refused; telnet: the line ends at once",
    host="`kernel.pty.nr` at `kernel.pty.max`",
    proved="OpenSSH 9.2 and busybox telnetd in a devpts of few terminals",
)
def pty_limit(observed: Observed) -> Finding | None:
    used = next(filter(None, map(describe_ptys, observed.hosts)), None)
    refused, ended = observed.failed("no-pty", "out-of-ptys"), observed.failed(*ENDED_AT_ONCE)
    phrase = observed.said_any(*NO_TERMINAL)
    if phrase or (used and (refused or ended)):
        said = f'the host said "{phrase}"' if phrase else f"{many(refused or ended, 'line')} got no terminal"
        return Finding(f"{said}{f', {used}' if used else ''}")
    if not refused:
        return None
    given = f" while {count(observed.lines)} did" if observed.lines else ""
    return Finding(f"{many(refused, 'line')} got no terminal{given}", certain=False)


def describe_ptys(host: HostReadings) -> str | None:
    """How many terminals a host has used, if it was all that it may."""
    used = host.highest(lambda report: report.limits.ptys)
    most = host.highest(lambda report: report.limits.pty_limit)
    if used is None or most is None or used < most:
        return None
    return f"{count(used)} of {count(most)} pseudo-terminals were in use{host.where}"


@cause(
    "start limit",
    setting="StartLimitBurst and StartLimitIntervalSec of the service, TriggerLimitBurst of its socket "
    "(`systemctl reset-failed` starts it again); of inetd its -R",
    outside="connections are refused after lines have worked: the service has ended",
    proved="systemd's text, made by hand; a real service that ends: busybox telnetd without terminals",
)
def start_limit(observed: Observed) -> Finding | None:
    if phrase := observed.said_any(*START_LIMIT):
        return Finding(f'the host said "{phrase}"')
    refused = observed.failed("refused")
    if not refused or not (observed.lines or observed.failed(*ENDED_AT_ONCE)):
        return None
    return Finding(
        f"{many(refused, 'connection')} refused after others were taken: the service has ended", certain=False
    )
