"""Which hosts a value of `--meters` names."""

import json

import pytest

from cuesta.plan import RawOptions, load
from cuesta.plan.meter_places import list_hosts, read_meters
from tests.conftest import Write


@pytest.mark.parametrize(
    "meters",
    [
        *("auto", "plain", "exact", "calls", "machine", "pid:7", "cgroup:/jobs", "cpus:0,3", "cpus:host"),
        *("calls:cpus:0,2-3", "exact:auto", "ssh://h?subject=cpus:0,3&tier=exact", "cgroup:/a,b=c"),
        "http://u:a,b=c@h:9100/metrics",
    ],
)
def test_one_host_may_have_commas_of_its_own(meters: str) -> None:
    assert read_meters(meters) == meters
    assert [host.where for host in list_hosts(meters)] == [meters]


@pytest.mark.parametrize(
    ("meters", "hosts"),
    [
        ("ssh://a,ssh://me@b:22?subject=cpus:0,3", {"a": "ssh://a", "b": "ssh://me@b:22?subject=cpus:0,3"}),
        ("auto, http://10.7.0.2:9100/metrics", {"here": "auto", "10.7.0.2": "http://10.7.0.2:9100/metrics"}),
        ("bastion=cpus:0,3,farm=exact:pid:7", {"bastion": "cpus:0,3", "farm": "exact:pid:7"}),
        ("exact,old=ssh://a,new=ssh://a", {"here": "exact", "old": "ssh://a", "new": "ssh://a"}),
        ("farm=ssh://b", {"farm": "ssh://b"}),
        ("http://[fd00::2]/metrics,machine", {"fd00-2": "http://[fd00::2]/metrics", "here": "machine"}),
    ],
)
def test_a_comma_ends_a_host_where_another_begins(meters: str, hosts: dict[str, str]) -> None:
    assert read_meters(meters) == meters
    assert {host.name: host.where for host in list_hosts(meters)} == hosts


@pytest.mark.parametrize(
    ("meters", "why"),
    [
        ("ssh://a,b", "no host begins after its comma: write ssh:// before each"),
        ("pid:7,pid:8", "2 hosts are named `here`: name them yourself, as in here-1=WHERE,here-2=WHERE"),
        ("auto,none", "`none` meters no host: write it alone"),
        ("farm=none", "`none` meters no host: write it alone"),
        ("farm=", "there are no such meters"),
        ("ssh://a,ssh://me:pw@b", "leave the password out"),
        ("ssh://a:x", "Port could not be cast to integer value as 'x'"),
        ("http://a:99999/metrics", "Port out of range 0-65535"),
    ],
)
def test_a_wrong_list_says_what_to_do(meters: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        read_meters(meters)


def test_passwords_of_several_hosts_are_hidden_one_by_one(write: Write) -> None:
    meters = ["http://a:9100/metrics", "farm=http://me:pw@b:9100/metrics"]
    path = write("p.toml", f'tape = "builtin:interactive"\nmeters = {json.dumps(meters)}\n')
    shown = load(RawOptions(plan=path), path.parent).settings.model_dump(mode="json")["meters"]
    assert shown == "http://a:9100/metrics,farm=http://me:***@b:9100/metrics"


def test_a_plan_may_list_hosts(write: Write) -> None:
    path = write("p.toml", 'tape = "builtin:interactive"\nmeters = ["gate=auto", "ssh://farm"]\n')
    assert load(RawOptions(plan=path), path.parent).settings.meters == "gate=auto,ssh://farm"
