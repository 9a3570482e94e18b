"""CPU time of a phase: all of the subject's, a share of the rest by time, and columns that add up."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.analysis.certify.certification_run import CpuAccount
from cuesta.analysis.certify.phases import Span
from cuesta.analysis.certify.read_run import cpu_account
from cuesta.ledger.meters import Gap
from cuesta.records.meter_figure import MeterFigure
from tests.certification_runs import reading, recorded
from tests.meter_reports import typed

REST = ("others", "idle", "steal")


def accounted(made: CpuAccount) -> float:
    """The sum of subject, others, idle and steal as a share of the CPUs' time."""
    return made.measured / made.whole_readings.capacity


def test_a_sample_across_a_phase_bound_counts_the_subject_whole_and_the_rest_in_part() -> None:
    rows = [
        reading(1.0, 1.0, own=0.4, idle=1.6),
        reading(2.0, 1.0, own=0.0, idle=2.0),
        reading(3.0, 1.0, own=0.2, others=0.9, idle=0.9),
    ]
    creation, command = Span(0.0, 0.5), Span(2.5, 3.0)
    first = cpu_account(recorded(*rows), creation, [command])
    assert (first.why, first.subject, first.seconds) == (None, 0.4, 1.0)
    assert first.rest["idle"] == pytest.approx(0.6)
    second = cpu_account(recorded(*rows), command, [creation])
    assert second.subject == pytest.approx(0.2)
    assert second.rest["others"] == pytest.approx(0.4)
    assert second.rest["idle"] == pytest.approx(0.4)
    assert second.counts["minor_faults"] == 100
    assert second.causes["page_faults"] == pytest.approx(0.06)


def test_what_a_slow_reading_counted_belongs_to_the_phase_in_which_its_last_counter_was_read() -> None:
    quick = [reading(0.25, 0.25, own=0.0, idle=0.5), reading(0.5, 0.25, own=0.0, idle=0.5)]
    before = reading(0.0, 0.25, own=0.1, idle=0.4)
    slow = replace(before, report=replace(before.report, lasted=MeterFigure(value=0.03)))
    creation = Span(0.0, 0.02)
    assert cpu_account(recorded(before, *quick), creation).subject == 0.0
    made = cpu_account(recorded(slow, *quick), creation)
    assert (made.subject, made.counts["minor_faults"]) == (0.1, 200)
    assert made.subject + sum(made.rest.values()) == pytest.approx(made.seconds)


subject, rest = st.floats(0.0, 0.04), st.tuples(*[st.floats(0.01, 1.0)] * 3)
"""A reading of a quarter of a second on two CPUs: seconds of the subject, and weights that divide the rest."""


@given(st.lists(st.tuples(subject, rest), min_size=4, max_size=12), st.floats(0.0, 0.2), st.floats(0.0, 0.2))
def test_every_column_adds_up(parts: list[tuple[float, tuple[float, ...]]], early: float, late: float) -> None:
    rows = []
    for number, (own, weights) in enumerate(parts, start=1):
        used = {name: (0.5 - own) * weight / sum(weights) for name, weight in zip(REST, weights, strict=True)}
        rows.append(reading(number / 4, 0.25, own, **used))
    made = cpu_account(recorded(*rows), Span(early, len(rows) / 4 - late))
    assert accounted(made) == pytest.approx(1.0)
    assert made.subject == pytest.approx(sum(own for own, _ in parts))
    assert made.subject + sum(made.rest.values()) == pytest.approx(made.seconds)


def test_clock_differences_do_not_create_cpu_time() -> None:
    full = [reading(1.0, 1.0, own=2.2), reading(2.0, 1.0, own=1.5, others=0.5), reading(3.0, 1.0, own=1.9, others=0.1)]
    made = cpu_account(recorded(*full), Span(0.0, 3.0))
    assert accounted(made) == pytest.approx(1.0)
    assert made.rest["others"] == pytest.approx(0.4)
    assert made.subject + sum(made.rest.values()) == pytest.approx(made.seconds)


def test_unmeasured_time_is_not_charged_to_others() -> None:
    told = reading(1.0, 1.0, own=0.4, others=0.6, idle=1.0)
    cpu = replace(told.report.cpu, idle=MeterFigure(why="not told"))
    row = replace(told, report=replace(told.report, cpu=cpu))
    made = cpu_account(recorded(row), Span(0.0, 1.0))
    assert made.rest["others"] == pytest.approx(0.6)
    assert accounted(made) == pytest.approx(0.5)


def test_an_account_with_too_much_time_does_not_close() -> None:
    made = cpu_account(recorded(reading(1.0, 1.0, own=2.0, idle=0.1)), Span(0.0, 1.0))
    assert accounted(made) == pytest.approx(1.05)


@pytest.mark.parametrize(
    ("records", "why"),
    [
        (recorded(about=None), "this run recorded no meters"),
        (recorded(), "the programs on the driver's terminals"),
        (recorded(reading(0.5, 0.5, 0.1, idle=0.9)), "did not read from the beginning to the end"),
        (recorded(reading(3.0, 3.0, 0.1, idle=5.9)), "no reading fell between the phases"),
        (
            recorded(reading(1.0, 1.0, 0.1, idle=1.9), gaps=(Gap(0.5, "it was killed"),)),
            "a gap in the meters: it was killed",
        ),
    ],
)
def test_a_missing_account_gives_its_reason(records: object, why: str) -> None:
    made = cpu_account(records, Span(0.0, 1.0), [Span(2.0, 3.0)])  # type: ignore[arg-type]
    assert made.why is not None
    assert why in made.why


def test_meters_without_the_subject_give_the_reason() -> None:
    told = reading(1.0, 1.0, 0.0, idle=2.0)
    own = replace(told.report.own, seconds=MeterFigure(why="not told"))
    row = replace(told, report=replace(told.report, own=own))
    assert cpu_account(recorded(row), Span(0.0, 1.0)).why == "these meters do not tell the subject's CPU time"


def test_time_without_samples_is_split_like_the_rest() -> None:
    met, unmet = reading(1.0, 1.0, own=0.3, idle=1.7), reading(2.0, 1.0, own=0.1, idle=1.9)
    unmet = replace(unmet, report=replace(unmet.report, by_cause=typed({"by_cause": {}}).by_cause))
    made = cpu_account(recorded(met, unmet), Span(0.0, 2.0))
    assert made.coverage == pytest.approx(0.75)
    assert dict(made.causes) == pytest.approx({"user": 0.24, "page_faults": 0.12, "loading": 0.04})
