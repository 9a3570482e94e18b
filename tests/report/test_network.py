"""Sentences that say to whom the network's CPU time belongs."""

from dataclasses import replace
from typing import Any

import pytest

from cuesta.figures.system_under_test import CpuUse, HostFigures, Metering
from cuesta.report.host_section import describe_network
from tests.meter_reports import cpu, meter_report, missing, plain, typed

SAMPLED = {
    "percent": {"value": 12.0, "tier": "sampled"},
    "seconds": {"value": 7.2, "tier": "sampled"},
    "in_subject": {"value": 3.0, "tier": "sampled"},
}
BY_TICKS = {"percent": plain(13.0), "seconds": plain(7.8), "in_subject": missing("ticks do not tell")}


def host(order: int | None, **more: Any) -> HostFigures:
    meters = Metering("here", "pid:4711", "the built-in host's process", "as it is", order, 30.0, True, [], None)
    whole = {
        **meter_report(),
        "per_cpu": {"1": cpu(usr=20, sys=10, irq=5)},
        "beside": {"0": cpu(usr=40, sys=9, irq=1)},
        **more,
    }
    return HostFigures(None, None, None, None, meters, typed(whole), None, {})


@pytest.mark.parametrize("order", [3, 4])
def test_over_loopback_it_is_shared(order: int) -> None:
    (text,) = describe_network(host(order, network=SAMPLED))
    assert text.startswith("network, shared: 12.0 % of the machine's 2 CPUs (sampled); 5.0 of it stands in the host's")


def test_by_ticks_it_is_at_most_all_soft_interrupts() -> None:
    (text,) = describe_network(host(4, network=BY_TICKS))
    assert text == "network, shared: at most 13.0 % of the machine's 2 CPUs (all soft interrupts, by clock ticks)"


def test_isolated_sides_have_their_own_cpus() -> None:
    (text,) = describe_network(host(2, network=SAMPLED))
    assert text == "busy by CPU, the network included: host CPU 1 35.0 %; driver CPU 0 50.0 % (plain)"


def test_others_on_isolated_cpus_are_named() -> None:
    machine = host(2, network=SAMPLED)
    used = CpuUse(usr=8.0, sys=4.0, irq=1.0, iowait=0.0, steal=0.0, idle=57.0, others=30.0, load=43.0)
    _, text = describe_network(replace(machine, cpu=used))
    assert text == "others took 30.0 % of the host's CPUs: that these were busy is not the host's alone"
    assert len(list(describe_network(replace(machine, cpu=replace(used, others=2.0))))) == 1


@pytest.mark.parametrize("order", [1, None])
def test_on_another_machine_it_belongs_to_the_host(order: int | None) -> None:
    assert list(describe_network(host(order, network=SAMPLED))) == []


def test_older_records_have_none() -> None:
    assert list(describe_network(host(4))) == []
    unknown = missing("/proc/stat: not there")
    assert list(describe_network(host(4, network={**BY_TICKS, "percent": unknown}))) == []
