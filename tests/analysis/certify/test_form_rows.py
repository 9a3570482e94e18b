"""Sampling errors of figures: how they combine, and how often the intervals contain the true value."""

import math
import random

import pytest

from cuesta.analysis.certify import form_rows
from cuesta.analysis.certify.certification_run import figure_with_error
from cuesta.analysis.certify.certification_run import sum_causes as of_phase
from cuesta.analysis.certify.phases import Span
from cuesta.analysis.certify.read_run import cpu_account
from cuesta.ledger.meters import MeterRow
from cuesta.ledger.record import RecordFigure
from tests.certification_runs import recorded
from tests.meter_reports import typed

TRIES = 400


def reading(end: float, own: float, samples: int, faults: int) -> MeterRow:
    """A meter report of one CPU: `faults` of its samples are page faults, and none is in the dynamic linker."""
    share = faults / samples if samples else 0.0
    causes = {"page_faults": share, "user": 1 - share} if samples else {}
    by_cause = {
        "causes": {
            name: {"seconds": part * own, "percent": 400 * part * own, "standard_error": 1.0, "calibration_error": 0.0}
            for name, part in causes.items()
        },
        "unmet": ["linking"],
        "about": {"samples": samples},
    }
    own_ = {"seconds": own, "others": 0.0}
    cpu = {"usr": 400 * own, "idle": 100 - 400 * own, "iowait": 0.0, "steal": 0.0}
    return MeterRow(end, 0.25, typed({"cpus": [0], "own": own_, "cpu": cpu, "by_cause": by_cause}))


@pytest.mark.parametrize(("share", "hz"), [(0.3, 997), (0.02, 997), (0.3, 60)])
def test_an_interval_over_samples_of_different_length_has_its_stated_coverage(share: float, hz: int) -> None:
    held = 0
    for number in range(TRIES):
        chance = random.Random(number)
        rows = []
        for at in range(1, 13):
            own = chance.choice([0.002, 0.02, 0.2])
            samples = sum(chance.random() < 0.5 for _ in range(round(2 * own * hz)))
            rows.append(reading(at / 4, own, samples, sum(chance.random() < share for _ in range(samples))))
        made = cpu_account(recorded(*rows), Span(0, 3))
        found = of_phase(made, "page_faults")
        assert found.low is not None
        assert found.high is not None
        held += found.low <= share * made.subject <= found.high
    # 95 % of 400 is 380; below 362 by chance once in 30,000 times.
    assert held >= 362


def test_a_cause_without_samples_in_a_phase_has_an_upper_bound() -> None:
    made = cpu_account(recorded(*(reading(at / 4, 0.2, 200, 50) for at in range(1, 5))), Span(0, 1))
    found = of_phase(made, "linking")
    assert found.value == 0
    assert found.high == pytest.approx(0.8 * 3.69 / 800, rel=0.01)


def test_samples_in_short_readings_have_more_weight() -> None:
    rows = [reading(0.25, 0.2, 200, 50), reading(0.5, 0.2, 10, 3)]
    made = cpu_account(recorded(*rows), Span(0, 0.5))
    assert made.samples.number == 210
    assert made.samples.effective_size == pytest.approx(0.4**2 / (0.2**2 / 200 + 0.2**2 / 10))


def test_sums_means_and_differences_combine_the_errors_of_their_parts() -> None:
    one = RecordFigure(value=3.0, standard_error=0.3, low=2.4, high=3.9)
    other = RecordFigure(value=1.0, standard_error=0.4, low=0.2, high=1.8)
    both = form_rows.sum_figures([one, other])
    assert [both.value, both.standard_error] == [4.0, pytest.approx(0.5)]
    assert [both.low, both.high] == [pytest.approx(3.0), pytest.approx(4 + math.hypot(0.9, 0.8))]
    mean = form_rows.sum_figures([one, one], 2)
    assert [mean.value, mean.standard_error] == [3.0, pytest.approx(0.3 / math.sqrt(2))]
    apart = form_rows.sum_figures([one, form_rows.scale_figure(other, -1)])
    assert [apart.value, apart.low] == [2.0, pytest.approx(2 - math.hypot(0.6, 0.8))]
    assert form_rows.scale_figure(one, 0.5).high == 1.95
    exact = form_rows.sum_figures([RecordFigure(value=1.0), RecordFigure(value=2.0)])
    assert [exact.value, exact.high] == [3.0, None]


def test_the_interval_includes_the_error_of_the_constants() -> None:
    found = figure_with_error(1.0, 0.25, 1e6, calibration=0.1)
    assert found.standard_error == pytest.approx(0.1, rel=0.01)
    assert [found.low, found.high] == [pytest.approx(0.804, rel=0.01), pytest.approx(1.196, rel=0.01)]
