"""Which meters a run reads, and how certain their figures are."""

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest

from cuesta.engine.local.meter_process import MeterRequest
from cuesta.engine.local.meter_source import APART, MeterSource, SegmentFacts, choose_source, is_here
from cuesta.errors import UsageError


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which this process listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def run(*targets: str, host: int | None = None, host_cpus: list[int] | None = None) -> SegmentFacts:
    return SegmentFacts(targets, host, host_cpus, [70, 71])


def subject(found: MeterSource) -> str:
    assert found.request is not None
    return found.request.subject


def test_the_built_in_host_is_metered_by_its_process() -> None:
    found = choose_source("auto", run("host:", host=4711))
    assert (found.source, subject(found)) == ("here", "pid:4711")
    assert "not pinned" in found.attribution.sentence
    assert "network's part of a side's CPU time may be the other's" in found.attribution.sentence


def test_tracing_is_the_same_request_with_a_depth() -> None:
    plain, light, full = (choose_source(where, run("host:", host=4711)) for where in ("auto", "exact", "calls"))
    assert plain.request is not None
    assert light.request == replace(plain.request, traced="light")
    assert full.request == replace(plain.request, traced="full", sampled=False, stacks=False)
    assert (light.source, subject(light), light.attribution) == ("here", "pid:4711", plain.attribution)
    assert subject(choose_source("exact:cgroup:/jobs", run("host:", host=4711))) == "cgroup:/jobs"


def test_the_hosts_cpus_are_metered_by_name() -> None:
    facts = run("host:", host=4711, host_cpus=[2, 3])
    found = choose_source("calls:cpus:host", facts)
    assert found.request == choose_source("calls:cpus:2,3", facts).request
    assert (subject(found), found.request and found.request.sampled) == ("cpus:2,3", False)


def test_a_remote_host_is_traced_only_by_its_own_cuesta() -> None:
    assert choose_source("exact", run("telnet://host.invalid:23")).command is None
    there = choose_source("ssh://host.invalid?tier=exact", run("telnet://host.invalid:23"))
    assert there.request is not None
    assert there.request.traced == "light"


def test_a_pinned_host_has_percent_of_its_own_cpus() -> None:
    found = choose_source("auto", run("host:", host=4711, host_cpus=[2, 3]))
    assert found.request is not None
    assert found.request.cpus == [2, 3]
    assert "pinned to CPUs of their own" in found.attribution.sentence


def test_a_host_that_cuesta_did_not_start_is_not_pinned() -> None:
    found = choose_source("auto", run("telnet://127.0.0.1:1", host_cpus=[2, 3]))
    assert "but not a host that it did not start" in found.attribution.sentence
    assert found.about.order == 4


@pytest.mark.parametrize(
    ("targets", "attached"),
    [(["pty:bash"], "terminals"), (["pipe:cat"], "pipes"), (["pty:bash", "pipe:cat"], "terminals and pipes")],
)
def test_programs_that_the_driver_starts_are_metered_as_its_children(targets: list[str], attached: str) -> None:
    found = choose_source("auto", run(*targets))
    assert subject(found) == "children:70,71"
    assert found.why == f"the programs on the driver's {attached}"
    assert f"share this machine through {attached}:" in found.attribution.sentence


def test_the_process_that_listens_at_a_loopback_address_is_found(port: int) -> None:
    found = choose_source("auto", run(f"ssh://joe@127.0.0.1:{port}?identity=/home/joe/key"))
    assert subject(found) == f"pid:{os.getpid()}"
    assert found.why == f"the process that listens at ssh://joe@127.0.0.1:{port}"


def test_without_a_listening_process_the_whole_machine_is_metered() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    found = choose_source("auto", run(f"tcp://127.0.0.1:{port}"))
    assert subject(found) == "machine"
    assert "could not be found" in found.why


def test_for_mixed_kinds_of_targets_the_whole_machine_is_metered() -> None:
    found = choose_source("auto", run("host:", "pty:bash", host=5))
    assert subject(found) == "machine"
    assert "several kinds" in found.why


def test_a_remote_target_is_not_metered_and_the_remedy_is_named() -> None:
    found = choose_source("auto", run("telnet://192.0.2.1"))
    assert (found.command, found.source) == (None, "none")
    assert "--meters ssh://HOST" in found.why


def test_meters_none_and_plain() -> None:
    assert choose_source("none", run("host:", host=5)).command is None
    found = choose_source("plain", run("host:", host=5))
    assert found.request is not None
    assert (found.request.sampled, found.request.stacks) == (False, False)


@pytest.mark.parametrize("where", ["pid:5", "cgroup:/user.slice", "cpus:0-1", "machine"])
def test_a_source_of_meters_is_parsed(where: str) -> None:
    assert subject(choose_source(where, run("host:", host=7))) == where


def test_a_node_exporter_is_asked_by_its_url() -> None:
    found = choose_source("http://box:9100/metrics", run("telnet://192.0.2.1"))
    assert subject(found) == "http://box:9100/metrics"
    assert (found.source, found.attribution) == ("node_exporter", APART)


def test_ssh_runs_the_same_program_there() -> None:
    where = "ssh://joe@box:2222?subject=cgroup:/a b&command=/opt/cuesta&identity=k&known_hosts=f"
    found = choose_source(where, run("telnet://192.0.2.1"))
    assert found.command is not None
    *ssh, there = found.command
    options = "-o BatchMode=yes -o ServerAliveInterval=5 -p 2222 -l joe -i k -o UserKnownHostsFile=f"
    assert " ".join(ssh) == f"ssh -T {options} -- box"
    assert (there, subject(found)) == ("/opt/cuesta meters stream", "cgroup:/a b")


def test_a_host_name_that_looks_like_an_option_is_refused() -> None:
    found = choose_source("ssh://-oProxyCommand=x", run("telnet://192.0.2.1"))
    assert found.command is not None
    assert (
        found.command[found.command.index("--") + 1].lower() == "-oproxycommand=x"
    )  # what follows -- is a name, not an option


def test_names_of_this_machine() -> None:
    assert is_here("127.0.0.1")
    assert is_here("localhost")
    assert not is_here("192.0.2.1")
    assert not is_here("no-such-host.invalid")


def test_a_request_is_one_row_and_an_unknown_one_is_refused() -> None:
    found = choose_source("exact", run("host:", host=4711, host_cpus=[2]), every=0.25)
    assert found.request is not None
    assert MeterRequest.parse(found.request.json()) == found.request
    assert (found.request.every, found.request.cpus) == (0.25, [2])


@pytest.mark.parametrize(
    ("request_row", "said"),
    [
        ("", "not JSON: Expecting value"),
        ("[" * 60_000, "not JSON"),
        ("[]", "expected an object"),
        ('{"evry": 1}', "no such name: 'evry'; the names are subject, cpus, every,"),
        ('{"every": "x"}', 'every: expected seconds, at least 0.05 and at most a day, got "x"'),
        ('{"every": -1}', "every: expected seconds"),
        ('{"every": NaN}', "every: expected seconds"),
        ('{"every": true}', "every: expected seconds"),
        ('{"subject": 7}', "subject: expected text"),
        ('{"cpus": [0, "1"]}', "cpus: expected a list of CPUs' numbers, or null"),
        ('{"sampled": 1}', "sampled: expected true or false"),
        ('{"traced": "deep"}', 'traced: expected "light", "full" or null'),
    ],
)
def test_a_strange_request_is_refused_with_what_was_expected(request_row: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"cuesta meters stream: not a request: {said}")):
        MeterRequest.parse(request_row)
