"""Warnings about a benchmark that goes idle, or leaves out work that the service does."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cuesta.analysis.certify.absentee import warn_unrepresentative
from cuesta.analysis.certify.certification_run import CertificationRun
from cuesta.analysis.certify.phases import PhaseTimes, Span
from cuesta.analysis.certify.record import derive_measurements
from cuesta.ledger.certification import Certification
from cuesta.ledger.readings import RunnableTasks
from cuesta.ledger.record import CertificationSetup
from tests.analysis.test_representative import causes
from tests.certification_runs import account, trial
from tests.ledger.test_certification import GIVEN
from tests.meter_reports import meter_report, typed


def batch(users: int = 20, **rest: float) -> CertificationRun:
    """A run of absentee processes over 100 s; the two CPUs are idle when neither `rest` nor the subject uses them."""
    span = Span(0.0, 100.0)
    one = trial()
    did = PhaseTimes(users, {"command": span}, [], [90.0, 100.0], [])
    return CertificationRun(
        one.folder, one.summary, did, {"command": account(span, **{"subject": 190.0, **rest})}, one.kernel
    )


def asleep(share: float, **rest: float) -> CertificationRun:
    """A run whose two processes are both runnable in this share of 100 samples."""
    made = batch(2, **rest)
    looks = range(100)
    wanting = [0 if look < 100 * share else 2 for look in looks]
    return replace(made, runnable=RunnableTasks([float(look) for look in looks], [2] * 100, wanting))


def benchmark(here: Path, pauses: float = 0.0, kind: str = "benchmark") -> Certification:
    given = CertificationSetup.model_validate({**GIVEN, "kind": kind, "pause": None, "pauses": pauses})
    return Certification(here, given, [], [], [], None)


def test_a_benchmark_that_keeps_the_machine_busy_raises_no_warning(here: Path) -> None:
    assert warn_unrepresentative(benchmark(here), [batch()]) == []


@pytest.mark.parametrize(
    ("pauses", "users", "why"),
    [
        (12.0, 20, "its script pauses for 12.0 s"),
        (0.0, 1, "there are fewer processes than CPUs (1 and 2)"),
        (0.0, 20, "its processes wait for something that is no device"),
    ],
)
def test_an_idle_benchmark_raises_a_warning_with_the_reason(here: Path, pauses: float, users: int, why: str) -> None:
    (said,) = warn_unrepresentative(benchmark(here, pauses), [batch(users, subject=176.0)])
    assert said.startswith(f"the benchmark goes idle: nobody uses 12.0 % of the CPUs, above 5.0 %: {why}")


def test_a_sleeping_benchmark_raises_a_warning_even_if_neighbours_fill_the_cpus(here: Path) -> None:
    crowded = asleep(0.5, subject=100.0, others=100.0)
    assert derive_measurements([crowded], None).a[5].command.value == 0, "no CPU is idle"
    (said,) = warn_unrepresentative(benchmark(here, 10.0), [crowded])
    assert said.startswith(
        "the benchmark goes idle: its own processes leave 50.0 % of the CPUs, above 5.0 %: its script"
    )


def test_a_benchmark_that_is_always_runnable_raises_no_warning_even_without_a_cpu(here: Path) -> None:
    assert warn_unrepresentative(benchmark(here), [asleep(0.02, subject=50.0, others=150.0)]) == []
    d = {row.key: row.figure.value for row in derive_measurements([asleep(0.02)], None).d}
    assert d["own_idle"] == pytest.approx(0.02)


def test_without_process_samples_sleep_is_unknown() -> None:
    unseen = replace(batch(), runnable=RunnableTasks([1.0, 2.0], [0, 0], [0, 0]))
    assert unseen.own_idle("command").why == "no meter data (nobody looked whether its processes slept)"
    assert batch().own_idle("command").value is None


def test_a_certification_of_users_raises_no_warning(here: Path) -> None:
    assert warn_unrepresentative(benchmark(here, kind="certification"), [batch(subject=100.0)]) == []


def warn_by_profile(here: Path, **run: Any) -> list[str]:
    service = meter_report(by_cause=causes(user=60.0, page_faults=30.0, softirq=10.0))
    about = {"format": 1, "recorded": "2026-11-21T08:00:00Z", "machine": {}, "sheet": service}
    (here / "service.profile").write_text(json.dumps(about))
    made = batch()
    made.recorded.metered.reports[0] = typed(meter_report(by_cause=causes(**run)))
    return warn_unrepresentative(benchmark(here), [made])


def test_work_that_the_benchmark_leaves_out_is_named(here: Path) -> None:
    (said,) = warn_by_profile(here, user=70.0, page_faults=30.0, softirq=0.01)
    assert said.startswith("the benchmark does not exercise what the service does: ")
    assert "softirq" in said


def test_a_benchmark_that_does_the_work_of_the_service_raises_no_warning(here: Path) -> None:
    assert warn_by_profile(here, user=62.0, page_faults=28.0, softirq=10.0) == []


def test_without_meters_the_comparison_is_unknown(here: Path) -> None:
    warn_by_profile(here)
    assert warn_unrepresentative(benchmark(here), [batch()]) == [
        "whether it does what the service does cannot be told: no meter data"
    ]


def test_the_result_is_one_number_with_its_conditions() -> None:
    found = derive_measurements([batch(subject=176.0), batch(subject=176.0)], None)
    d = {each.name: each.figure.value for each in found.d}
    assert d["Elapsed time, first start to last end"] == 100.0
    assert d["Average real time of a process"] == 95.0
    assert d["Zero idle"] == pytest.approx(0.12)
    assert d["Paging load: CPU time on page faults"] == pytest.approx(0.2)
    assert d["Page faults with a device"] == 100
    assert found.a[0].total == found.a[0].command
