"""`cuesta meters --exact` and `--calls`: the kernel traced on this machine, which takes root."""

import pytest

from tests.conftest import Cuesta

KINDS = ("zero", "page_wait", "loading", "io_wait", "quota_wait")


def test_a_traced_report_has_the_figures_of_tracing(cuesta: Cuesta) -> None:
    document = cuesta("meters", "--exact", "--plain", "300ms", "1", "--json").ends().json
    assert {document["idle"][kind]["tier"] for kind in KINDS} == {"exact"}, document["notes"]
    assert "user_and_calls" in document["by_cause"]["value"]["causes"]
    cpu = document["cpu"]
    shares = [cpu[name]["value"] for name in ("usr", "sys", "irq", "iowait", "steal", "idle")]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert "cuesta meters --calls" in document["counts"]["system_calls"]["why"]


def test_calls_are_counted_on_request(cuesta: Cuesta) -> None:
    document = cuesta("meters", "--calls", "300ms", "1", "--json").ends().json
    causes = document["by_cause"]["value"]["causes"]
    assert document["counts"]["system_calls"]["tier"] == causes["system_calls"]["seconds"]["tier"] == "exact"
    assert causes["system_calls"]["count"]["value"] > 0
    assert document["by_cause"]["value"]["about"] == {}, "the full tracer replaces the sampler"


def test_an_interval_gives_a_report_instead_of_rows(cuesta: Cuesta) -> None:
    text = cuesta("meters", "--exact", "--plain", "200ms").ends().out
    assert text.startswith("METERS")
    assert "page-wait idle" in text
