"""Causes by name: what tells each apart, and what does not. Real hosts: tests/test_causes.py."""

from pathlib import Path
from typing import Any

import pytest

from cuesta._native import Histogram
from cuesta.analysis.diagnosis.document import renew_document
from cuesta.analysis.diagnosis.find import ALL, find_causes
from cuesta.analysis.diagnosis.observed import HostReadings, Observed
from cuesta.analysis.waits import Waits
from tests.hdr import encode
from tests.meter_reports import cpu, events, meter_report, plain, typed

QUICK = {"connect": [0.001] * 6, "banner": [0.01] * 6, "key_exchange": [0.02] * 6, "methods": [0.01] * 6}
"""The phases of logins at an idle host."""


def logins(**phases: list[float]) -> dict[str, Waits]:
    """Phases of logins that succeeded, in seconds."""
    return {name: Waits(Histogram.decode(encode(times))) for name, times in (QUICK | phases).items()}


def host(**other: Any) -> HostReadings:
    """Three seconds of a host's meters; without other figures it is healthy."""
    return HostReadings([typed(meter_report(seconds=1.0, **other))] * 3)


def limits(**figures: Any) -> HostReadings:
    return host(limits=figures)


def found(observed: Observed) -> dict[str, bool]:
    """The names of the causes, and whether each is certain."""
    return {cause.name: cause.certain for cause in find_causes(observed)}


def refused(text: str) -> Observed:
    return Observed({"max-startups": 4}, {"max-startups": f"h:22 refused{text}"}, logins())


PTYS = limits(ptys=plain(4096), pty_limit=plain(4096))
GRACE = limits(login_grace=plain(120.0))
TRACKED = {"conntrack": plain(65536), "conntrack_limit": plain(65536)}
DNS = [8.63, 8.64, 8.68]
TIMED_OUT = {"methods": Waits(timed_out=Histogram.decode(encode([9.9] * 3)))}
ENDED = {"login": Waits(lost=Histogram.decode(encode([120.1, 120.3, 121.0])))}

NAMED: list[tuple[str, Observed]] = [
    ("MaxStartups", refused(' (it said "Exceeded MaxStartups")')),
    ("PerSourcePenalties", refused(' (it said "Not allowed at this time")')),
    ("MaxSessions", Observed({"channel": 2}, {"channel": "h:22 opens no session (ConnectFailed): see"}, logins())),
    ("nologin", Observed({"exited-at-start": 1}, {"exited-at-start": "it said last: /etc/nologin exists"})),
    ("LoginGraceTime", Observed({"hung-up": 3}, {}, ENDED, [GRACE])),
    ("reverse DNS", Observed(phases=logins(methods=DNS), hosts=[limits(name_lookups=plain(3))])),
    ("reverse DNS", Observed({"timeout": 3}, {}, logins() | TIMED_OUT, [limits(name_lookups=plain(3))])),
    ("logind or another PAM session", Observed(phases=logins(authentication=[0.1] * 6, channel=[25.1] * 3))),
    ("entropy", Observed(phases=logins(key_exchange=[9.0] * 3), hosts=[limits(entropy=plain(40))])),
    ("pty limit", Observed({"no-pty": 3}, hosts=[PTYS])),
    ("pty limit", Observed({"closed": 3}, {"closed": "it said last: telnetd: All network ports in use."})),
    ("start limit", Observed({"exited": 3}, {"exited": "it said last: Failed with result 'start-limit-hit'."})),
    ("nproc", Observed({"exited": 1}, {"exited": "it said last: bash: fork: Resource temporarily unavailable"})),
    ("nproc", Observed(hosts=[limits(pids_refused=events(7, 1.0))])),
    ("file limit", Observed({"exited": 1}, {"exited": "it said last: accept: Too many open files"})),
    ("file limit", Observed(hosts=[limits(files=plain(1000), file_limit=plain(1000))])),
    ("disk full", Observed({"exited": 1}, {"exited": "it said last: write error: No space left on device"})),
    ("CPU quota", Observed(hosts=[host(idle={"throttled": plain(4.0), "quota": plain(0.5)})])),
    ("memory.high", Observed(hosts=[limits(memory_high=events(3, 1.0))])),
    ("OOM kill", Observed(hosts=[limits(oom_kills=events(1, 1.0))])),
    ("cloud steal", Observed(hosts=[host(cpu=cpu(steal=9.0))])),
    (
        "full accept queue",
        Observed(phases=logins(connect=[0.001, 1.03, 3.06]), hosts=[limits(listen_overflows=events(2, 1.0))]),
    ),
    ("full table of connections", Observed(hosts=[limits(**TRACKED, conntrack_drops=events(5, 1.0))])),
]
"""What tells a cause apart."""


@pytest.mark.parametrize(("name", "observed"), NAMED)
def test_a_cause_is_named_where_the_evidence_tells_it_apart(name: str, observed: Observed) -> None:
    assert found(observed) == {name: True}


POSSIBLE: list[tuple[str, Observed]] = [
    ("limit of logins under way", refused("")),
    ("LoginGraceTime", Observed({"hung-up": 3}, {}, ENDED)),
    ("reverse DNS", Observed(phases=logins(methods=DNS))),
    (
        "GSSAPI, Kerberos or another look-up by PAM",
        Observed(phases=logins(authentication=[6.0] * 3)),
    ),
    ("logind or another PAM session", Observed(phases=logins(authentication=[0.1] * 6, channel=[4.0] * 3))),
    ("pty limit", Observed({"no-pty": 3}, phases=logins())),
    ("nproc", Observed({"no-shell": 3}, phases=logins())),
    ("start limit", Observed({"refused": 3}, phases=logins())),
    ("OOM kill", Observed({"exited": 1}, {"exited": "vim was killed by signal 9"})),
    ("full accept queue", Observed(phases=logins(connect=[0.001, 1.03, 3.06]))),
    ("full table of connections", Observed(hosts=[limits(**TRACKED)])),
    ("full SYN queue", Observed({"timeout": 2}, hosts=[limits(syn_cookies=events(2, 1.0))])),
]
"""What fits a cause, and others too."""


@pytest.mark.parametrize(("name", "observed"), POSSIBLE)
def test_a_cause_may_be_where_the_evidence_fits_others_too(name: str, observed: Observed) -> None:
    assert found(observed) == {name: False}


HEALTHY: list[Observed] = [
    Observed(),
    Observed(phases=logins(authentication=[0.1] * 6, channel=[0.01] * 6), hosts=[host()]),
    # The host is slow as a whole: no phase tells why.
    Observed(phases=logins(banner=[3.0] * 6, key_exchange=[4.0] * 6, methods=[5.1] * 6)),
    # Connections are slow, and their times are spread.
    Observed(phases=logins(connect=[0.7, 1.1, 1.6, 2.2, 3.1, 4.4])),
    # Somebody else's process was killed.
    Observed(phases=logins(), hosts=[host(part=False, limits={"oom_kills": events(1, 1.0)})]),
    Observed(phases=logins(), hosts=[limits(syn_cookies=events(1, 1.0), listen_overflows=events(1, 1.0))]),
    # Logins timed out, not connections.
    Observed({"timeout": 3}, {}, logins() | TIMED_OUT | {"banner": Waits()}, [limits(listen_overflows=events(1, 1.0))]),
    # Nobody was refused: all terminals are in use.
    Observed(phases=logins(), hosts=[PTYS]),
    Observed({"auth": 3}, {"auth": "h:22 did not let joe in: see MaxStartups and kernel.pty.max"}),
    Observed({"hung-up": 3}, {}, {"login": Waits(lost=Histogram.decode(encode([1.1, 4.0, 9.0])))}),
    Observed({"refused": 5}, {"refused": "nothing listens at h:22"}),
]


@pytest.mark.parametrize("observed", HEALTHY)
def test_nothing_is_named_without_evidence(observed: Observed) -> None:
    assert found(observed) == {}


def test_max_startups_shows_its_three_numbers_as_far_as_they_are_known() -> None:
    shown = {"startups_start": plain(10), "startups_full": plain(60)}
    exceeded = refused(' (it said "Exceeded MaxStartups")')
    for rate, numbers in (({"startups_rate": plain(30)}, "10:30:60"), ({}, "10:?:60")):
        metered = Observed(exceeded.failures, exceeded.said, exceeded.phases, [limits(**shown, **rate)])
        assert find_causes(metered)[0].evidence == (
            f'4 of 10 connections ended, the first with "Exceeded MaxStartups" in place of a banner; it is {numbers}'
        )


def test_the_page_has_all_causes_once() -> None:
    page = (Path(__file__).parents[2] / "docs/causes.md").read_text(encoding="utf-8")
    assert renew_document(page) == page, "./scripts/docs renews it"
    names = [rule.name for rule in ALL]
    assert len(set(names)) == len(names) > 20
    assert all(rule.proved and rule.setting and rule.outside for rule in ALL)
