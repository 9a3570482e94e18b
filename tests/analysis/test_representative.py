"""Whether a benchmark does the work of the service, tested with reports of known figures."""

from typing import Any

import pytest

from cuesta.analysis.representative import WorkloadMix, compare_mixes, derive_mix
from tests.meter_reports import events, meter_report, missing, plain, typed

Row = dict[str, Any]
SECONDS = 30.0


def causes(samples: float = 5000.0, calls: float | None = 3000.0, **percents: float) -> Row:
    estimate = missing("only 20 samples tell of it") if calls is None else plain(calls)
    about = {"samples": plain(samples), "calls_estimated": estimate}
    found = {
        "causes": {name: {"percent": plain(percent)} for name, percent in percents.items()},
        "unclassified": 0.0,
        "about": about,
    }
    return {"value": found, "tier": "sampled"}


def mix_of(cpu: float = 0.24, zero: float = 64.0, counts: Row | None = None, **other: Any) -> WorkloadMix:
    made = meter_report(seconds=SECONDS, **other)
    made["own"]["seconds"] = plain(cpu * SECONDS)
    made["idle"]["zero"] = plain(zero)
    made["counts"] |= counts or {}
    return derive_mix(typed(made))


def test_a_service_is_representative_of_itself() -> None:
    same = mix_of(by_cause=causes(user=6.0, page_faults=6.0))
    found = compare_mixes(same, same)
    assert found.represents
    assert found.elsewhere == pytest.approx(0.0)
    assert all(rate.ratio == pytest.approx(1.0) for rate in found.rates if rate.service.value)


def test_shares_are_relative_to_the_time_of_the_subject() -> None:
    found = mix_of(by_cause=causes(user=9.0, page_faults=3.0))
    assert {name: share.value for name, share in found.shares.items()} == pytest.approx(
        {"user": 75.0, "page faults": 25.0, "unclassified": 0.0}
    )


def test_a_benchmark_with_half_the_paging_differs_by_that_much() -> None:
    """The benchmark of 1974 spent 20 % on paging, the service 40 to 50 %."""
    service, run = (mix_of(by_cause=causes(user=100 - paging, page_faults=paging)) for paging in (45.0, 20.0))
    found = compare_mixes(service, run)
    assert found.elsewhere == pytest.approx(25.0)
    assert [(share.name, share.points) for share in found.shares[:2]] == [("user", 25.0), ("page faults", -25.0)]
    assert found.represents, "half of the paging differs, but is exercised"


def test_missing_work_of_the_benchmark_is_named() -> None:
    service = mix_of(by_cause=causes(user=80.0, page_faults=20.0), counts={"forks": events(300, SECONDS)})
    run = mix_of(by_cause=causes(user=99.5, page_faults=0.5), counts={"forks": events(0, SECONDS)})
    found = compare_mixes(service, run)
    assert not found.represents
    assert found.unexercised == [
        "page faults: 20.0 % of the service's CPU time, 0.5 % here",
        "processes and threads made: 10.0 a second in the service, 0.0 here",
    ]
    assert found.rates[0].name == "processes and threads made", "the largest difference comes first"


def test_an_idle_benchmark_is_reported() -> None:
    found = compare_mixes(mix_of(zero=2.0), mix_of(zero=14.0))
    assert found.idles == pytest.approx(12.0)
    assert not found.represents


def test_a_smaller_load_of_the_same_kind_is_the_same_mix() -> None:
    service = mix_of(cpu=1.0, counts={"switches": events(30_000, SECONDS)})
    run = mix_of(cpu=0.1, counts={"switches": events(3_000, SECONDS)})
    found = next(rate for rate in compare_mixes(service, run).rates if rate.name == "context switches")
    assert found.ratio == pytest.approx(0.1)
    assert found.per_cpu == pytest.approx(1.0)
    assert compare_mixes(service, run).load == (1.0, 0.1)


def test_few_samples_do_not_prove_absence() -> None:
    service = mix_of(by_cause=causes(user=98.0, linking=2.0))
    for samples, unexercised in ((100.0, 0), (1000.0, 1)):
        run = mix_of(by_cause=causes(samples, user=100.0))
        assert len(compare_mixes(service, run).unexercised) == unexercised


def test_calls_with_too_few_samples_are_not_called_absent() -> None:
    service = mix_of(by_cause=causes(user=50.0, system_calls=50.0))
    run = mix_of(by_cause=causes(calls=None, user=40.0, system_calls=60.0))
    found = compare_mixes(service, run)
    assert found.represents
    assert found.missing["system calls"].startswith("of the run: ")


def test_unmetered_figures_are_not_zero() -> None:
    service = mix_of(by_cause=causes(user=80.0, page_faults=20.0))
    run = mix_of(by_cause=missing("the sampler is not on"))
    found = compare_mixes(service, run)
    assert found.elsewhere is None
    assert found.shares == []
    assert found.missing["CPU time by cause"] == "of the run: the sampler is not on"
    assert found.missing["system calls"].startswith("of the run: ")
    assert "programs loaded" in found.missing


def test_devices_are_added_up_by_class() -> None:
    device = meter_report()["devices"]["vda"]
    found = mix_of(devices={"vda": device, "nvme0n1": device, "dm-0": device})
    assert found.rates["reads of disks"].value == pytest.approx(4.0)
    assert found.rates["reads of mapped disks"].value == pytest.approx(2.0)
