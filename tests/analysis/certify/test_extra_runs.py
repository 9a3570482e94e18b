"""Part c of the form: each number is from the runs that count it, and a missing number says why."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from cuesta.analysis.certify.certification_run import CertificationRun
from cuesta.analysis.certify.extra_runs import ExtraRuns
from cuesta.analysis.certify.grade import check_form
from cuesta.analysis.certify.phases import Span
from cuesta.analysis.certify.read_run import cpu_account
from cuesta.analysis.certify.record import derive_measurements
from cuesta.ledger.readings import Linked
from cuesta.ledger.record import FormRow, RecordFigure
from cuesta.records.meter_figure import to_json
from tests.certification_runs import extra_runs, reading, recorded, trial
from tests.meter_reports import typed

RUNS = [trial(number) for number in range(1, 6)]


def part_c(made: ExtraRuns) -> dict[str, FormRow]:
    return {line.key: line for line in derive_measurements(RUNS, None, made).c}


def values_of_phases(line: FormRow) -> tuple[float | None, float | None, float | None]:
    return line.creation.value, line.command.value, line.total.value


def test_every_cell_of_part_c_is_filled() -> None:
    found = part_c(extra_runs())
    kinds = ("page", "segment", "linkage", "wall_crossing", "interrupt")
    assert list(found) == [f"{kind}.{what}" for kind in kinds for what in ("average", "number")]
    assert {key: values_of_phases(found[f"{key}.number"]) for key in kinds} == {
        "page": (1000, 1000, 2000),
        "segment": (400, 400, 800),
        "linkage": (1000, 5000, 6000),
        "wall_crossing": (5000, 5000, 10_000),
        "interrupt": (50, 50, 100),
    }
    assert all(
        getattr(found[f"{kind}.average"], at).value is not None for kind in kinds for at in ("creation", "total")
    )
    assert check_form(derive_measurements(RUNS, None, extra_runs()), phased=True) == (
        True,
        "every part of the form could be had",
    )


def test_number_times_average_is_the_time_of_part_b() -> None:
    found = derive_measurements(RUNS, None, extra_runs())
    b, c = {line.key: line for line in found.b}, {line.key: line for line in found.c}
    for kind in ("page", "linkage"):
        for at in ("creation", "command", "total"):
            average, number, time = (
                getattr(line, at).value for line in (c[f"{kind}.average"], c[f"{kind}.number"], b[kind])
            )
            assert average * number == pytest.approx(time)


def test_a_form_without_a_tracer_names_missing_figures_and_the_reason() -> None:
    made = extra_runs(untraced="no tracers are built in")
    found = part_c(made)
    assert found["segment.number"].command == RecordFigure(why="no meter data (not traced: no tracers are built in)")
    assert found["page.number"].command.value == 1000
    ok, said = check_form(derive_measurements(RUNS, None, made), phased=True)
    assert not ok
    assert said.startswith("the form lacks c: missing segment: average (creation), and 7 more: no meter data (not")


def replace_runs(**changed: Any) -> ExtraRuns:
    """The extra runs, with some replaced."""
    made = extra_runs()
    return ExtraRuns({**made.runs, **changed}, made.linked, None)


def test_a_run_in_which_a_user_did_not_finish_is_not_used() -> None:
    broken = replace(trial(doubts=("2 users did not come to the end of the script",)), folder=trial().folder)
    why = part_c(replace_runs(traced=[broken]))["wall_crossing.number"].command.why
    assert why == "no meter data (the traced run does not count: 2 users did not come to the end of the script)"


def test_a_late_extra_run_is_used_because_it_is_not_timed() -> None:
    late = trial()
    late.summary.doubts.append("keys were late")  # type: ignore[arg-type]
    found = replace_runs(traced=[late], control=[late])
    assert found.calls("command", "mapping").value == 400
    assert found.completion().why == "no meter data (the control run does not count: keys were late)"


@pytest.mark.parametrize(
    ("linked", "why"),
    [
        (Linked([], [], []), "no reading of the linkers' reports fell between the phases"),
        (
            Linked([-0.5, 0.5, 3.0, 4.5], [0] * 4, [0] * 4),
            "no reading of the linkers' reports fell between the phases",
        ),
        (Linked([0.5, 1.5, 4.5], [0] * 3, [0] * 3), "the linkers' reports were not read throughout"),
        (
            Linked([-0.5, 1.5, 4.5], [0] * 3, [0] * 3),
            "no program's linker reported: they have no GNU linker, or not",
        ),
    ],
)
def test_missing_linker_reports_are_not_zero(linked: Linked, why: str) -> None:
    made = extra_runs()
    (run,) = made.runs["linkage"]
    found = ExtraRuns(made.runs, {run.folder: linked}, None).symbols("creation")
    assert str(found.why).startswith(f"no meter data ({why}")


def test_reports_of_some_programs_are_not_used_for_all() -> None:
    made = extra_runs()
    (traced,) = made.runs["traced"]
    traced.recorded.metered.reports[0] = typed({"counts": {"execs": {"count": 100}}})
    assert (
        made.symbols("command").why
        == "no meter data (the linkers of 60 programs reported, and 100 programs were loaded)"
    )
    traced.recorded.metered.reports[0] = typed({"counts": {"execs": {"count": 62}}})
    assert made.symbols("command").value == 5000


def traced(call: int, **causes: dict[str, float]) -> Any:
    """A meter report of the full tracer."""
    row = reading(1.0, 1.0, own=0.4, idle=1.6)
    found = typed(
        {
            "counts": {**to_json(row.report.counts), "system_calls": {"count": call}},
            "traffic": {"page_waits": {"count": 0}},
            "idle": {"quota_wait": 0.0},
            "by_cause": {"causes": causes, "about": {}},
        }
    )
    changed = {name: getattr(found, name) for name in ("counts", "traffic", "idle", "by_cause")}
    return replace(row, report=replace(row.report, **changed))


def test_each_system_call_is_counted_in_one_class() -> None:
    """The report also has the number of all system calls, which includes mapping and loading."""
    row = traced(1000, system_calls={"seconds": 0.1, "count": 700.0}, mapping={"seconds": 0.1, "count": 200.0})
    made = cpu_account(recorded(row), Span(0.0, 1.0))
    run = replace(trial(), accounts={"command": made})
    assert run.occurrences("command", "system_calls").value == 700
    assert run.occurrences("command", "mapping").value == 200
    assert run.occurrences("command", "softirq", "interrupts").value == 0, "no occurrence is 0 if a tracer counted"


def test_without_samples_the_light_tracer_gives_no_causes() -> None:
    row = traced(0, user_and_calls={"seconds": 0.39}, softirq={"seconds": 0.01, "count": 3.0})
    made = cpu_account(recorded(row), Span(0.0, 1.0))
    assert (made.causes, made.coverage, made.occurrences) == (Counter(), 0.0, Counter(softirq=3))


def test_without_a_tracer_nothing_was_counted() -> None:
    made = cpu_account(recorded(reading(1.0, 1.0, own=0.4, idle=1.6)), Span(0.0, 1.0))
    run: CertificationRun = replace(trial(), accounts={"command": made})
    assert run.occurrences("command", "mapping").value is None
    assert run.occurrences("command", "softirq").value is None
    assert run.number("command", "minor_faults", "major_faults").value == 101
