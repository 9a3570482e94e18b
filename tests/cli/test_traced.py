"""`cuesta meters --exact` and `--calls`: the kernel traced on this machine, which takes root."""

import json
from typing import Any

import pytest

from cuesta.cli import main
from cuesta.errors import Exit

KINDS = ("zero", "page_wait", "loading", "io_wait", "quota_wait")


def meter_report(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["meters", *arguments, "300ms", "1", "--json"]) == Exit.GOOD
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_traced_report_has_the_figures_of_tracing(capsys: pytest.CaptureFixture[str]) -> None:
    found = meter_report(capsys, "--exact", "--plain")
    assert {found["idle"][kind]["tier"] for kind in KINDS} == {"exact"}, found["notes"]
    assert "user_and_calls" in found["by_cause"]["value"]["causes"]
    cpu = found["cpu"]
    shares = [cpu[name]["value"] for name in ("usr", "sys", "irq", "iowait", "steal", "idle")]
    assert sum(shares) == pytest.approx(100, abs=0.1)
    assert "cuesta meters --calls" in found["counts"]["system_calls"]["why"]


def test_calls_are_counted_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    found = meter_report(capsys, "--calls")
    causes = found["by_cause"]["value"]["causes"]
    assert found["counts"]["system_calls"]["tier"] == causes["system_calls"]["seconds"]["tier"] == "exact"
    assert causes["system_calls"]["count"]["value"] > 0
    assert found["by_cause"]["value"]["about"] == {}, "the full tracer replaces the sampler"


def test_an_interval_gives_a_report_instead_of_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["meters", "--exact", "--plain", "200ms"]) == Exit.GOOD
    text = capsys.readouterr().out
    assert text.startswith("METERS")
    assert "page-wait idle" in text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--exact", "--report"], "cuesta meters report: no such flag: --exact"),
        (["--calls", "--reset"], "cuesta meters reset: no such flag: --calls"),
        (["--exact", "--from", "http://host.invalid:9100/metrics"], "a node_exporter does not trace"),
    ],
)
def test_missing_tracing_is_reported(capsys: pytest.CaptureFixture[str], arguments: list[str], said: str) -> None:
    assert main(["meters", *arguments]) == Exit.USAGE
    assert said in capsys.readouterr().err
