"""MPL-17's form: its identities hold, its grades follow their rules, and missing figures have a reason."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cuesta.analysis.certify.grade import award_grade, run_checks
from cuesta.analysis.certify.record import derive_measurements, list_published
from cuesta.ledger.record import FormRow, RecordFigure, Reference
from cuesta.plan import RawOptions, load
from tests.certification_runs import trial
from tests.meter_reports import typed

RUNS = [trial(number, subject) for number, subject in enumerate((1.0, 1.02, 0.98, 1.01, 0.99), start=1)]


REFERENCE = Reference(system="2.3", seconds=0.4, sha256="0", runs=[0.4, 0.402, 0.398, 0.404, 0.396])


def value(figure: RecordFigure) -> float:
    assert figure.value is not None, figure.why
    return figure.value


def named(lines: list[FormRow], name: str) -> FormRow:
    return next(each for each in lines if each.name == name)


@pytest.mark.parametrize("phase", ["creation", "command", "total"])
def test_the_identities_of_1969_hold(phase: str) -> None:
    found = derive_measurements(RUNS, None)
    a = {each.name: getattr(each, phase) for each in found.a}
    known = [figure.value for name, figure in a.items() if figure.value is not None and not name.startswith("Total")]
    assert sum(known) == pytest.approx(value(a["Total CPU time charged"]))
    b = {each.name: getattr(each, phase) for each in found.b}
    parts = [figure.value for name, figure in b.items() if figure.value is not None and name != "Total"]
    assert sum(parts) == pytest.approx(value(b["Total"]))
    both = value(a["Time used by subject processes"]) + value(a["Time spent loading processes"])
    assert both == pytest.approx(value(b["Total"]))


def test_kernel_threads_are_taken_out_of_others() -> None:
    a = {each.name: each.command for each in derive_measurements(RUNS, None).a}
    assert value(a["Time spent in file system daemon"]) == pytest.approx(0.02)
    assert value(a["Used by others"]) == pytest.approx(0.18)


def test_idle_time_under_a_quota_is_not_true_idle_time() -> None:
    barred = trial()
    for account in barred.accounts.values():
        account.rest["throttled"] = 1  # a second
        account.readings_with["throttled"] = account.readings
    found = {each.name: each.command for each in derive_measurements([barred], None).a}
    free = {each.name: each.command for each in derive_measurements([trial()], None).a}
    assert value(found["Idle time due to eligibility control"]) == 1
    assert value(found["True idle time"]) == pytest.approx(value(free["True idle time"]) - 1)


def test_a_process_has_its_share_and_the_reference_its_ratio() -> None:
    found = derive_measurements(RUNS, REFERENCE)
    d = {each.name.strip(): each.figure for each in found.d}
    assert value(d["Average real time for completion of a process"]) == 2.25
    assert value(d["Average process creation time"]) == pytest.approx(0.2 * 0.8 / 4)
    assert value(d["Average time for execution of command sequence"]) == pytest.approx(0.8 / 4)
    assert value(d["Performance relative to it"]) == pytest.approx(0.4 / 0.2)
    low, high = found.d[-1].interval or (0.0, 0.0)
    assert 1.9 < low < 2.0 < high < 2.1


@pytest.mark.parametrize(("own", "reference"), [(1, 5), (5, 1), (3, 3)])
def test_no_ratio_is_given_without_its_interval(own: int, reference: int) -> None:
    """One run does not show how much runs differ."""
    few = REFERENCE.model_copy(update={"runs": REFERENCE.runs[:reference]})
    last = derive_measurements(RUNS[:own], few).d[-1]
    assert (last.figure.value, last.interval) == (None, None)
    assert f"here are {own} and of the reference {reference}" in (last.figure.why or "")


def test_published_figures_stand_beside_figures_of_the_same_kind() -> None:
    """CPU time is compared with CPU time: the 18.1 s of 1969 are CPU time of a process, not the wait of its user."""
    runs = [trial()]
    beside: Any = [
        SimpleNamespace(
            what="CPU time", figure=figure, users=4, published=18.1, bound=None, source="MPL-17", step=step,
            measured=0.7, is_duration=True,
        )
        for figure, step in (("form.creation_whole", 0), ("response{process creation}.mean", 0), ("form.command", None))
    ]  # fmt: skip
    runs[0].summary.published.extend(beside)
    form = derive_measurements(runs, None)
    d = {row.key: row.figure for row in form.d}
    cpu, waited = list_published(runs, form)
    assert cpu.measured == d["creation_whole"] != d["creation_real"]
    assert value(waited.measured) == 0.7


def test_only_one_figure_is_named_fork_to_first_prompt() -> None:
    names = [row.name for row in derive_measurements(RUNS, None).d]
    assert len(set(names)) == len(names)
    assert [name for name in names if "fork to first prompt" in name] == [
        "  the same in real time, fork to first prompt"
    ]
    studies = Path(__file__).parents[3] / "studies" / "certification"
    for plan in ("plan", "short", "short-fsim"):
        settings = load(RawOptions(plan=studies / f"{plan}.toml"), studies).settings
        assert settings.published
        assert all(each.figure.is_of_form for each in settings.published)
        assert not any("prompt" in each.what for each in settings.published)


def test_a_figure_that_one_run_lacks_has_no_average() -> None:
    broken = trial(3)
    broken.accounts["command"].why = "it was killed"
    used = derive_measurements([*RUNS, broken], None).a[0]
    assert used.creation.value is not None
    assert used.command == used.total == RecordFigure(why="no meter data (it was killed)")


def test_five_good_runs_are_certified() -> None:
    done = run_checks(RUNS, phased=True)
    assert [check.said for check in done if not check.ok] == []
    assert award_grade(len(RUNS), done) == "certified"


@pytest.mark.parametrize(
    ("trials", "reached", "fails"),
    [
        (RUNS[:1], "observation", {"runs", "settled"}),
        (RUNS[:4], "estimate", {"runs"}),
        ([*RUNS, trial(6, steal=0.9)], "estimate", {"steal"}),
        ([*RUNS, trial(6, others=2.5)], "estimate", {"alone"}),
        ([trial(1, 1.5), *RUNS], "estimate", {"settled"}),
        ([*RUNS, trial(6, doubts=("a user did not come to the end",))], "estimate", {"valid"}),
        ([], "estimate", {"runs"}),
    ],
)
def test_each_reason_against_certification_is_named(trials: list[Any], reached: str, fails: set[str]) -> None:
    done = run_checks(trials, phased=True)
    assert award_grade(len(trials), done) == reached
    assert {check.name for check in done if not check.ok} == fails


def test_an_open_or_hardly_sampled_account_is_not_certified() -> None:
    open_, split = trial(6), trial(7)
    open_.accounts["command"].whole_readings.capacity /= 0.9
    split.accounts["command"].coverage = 0.89
    assert {check.name for check in run_checks([*RUNS, open_], phased=True) if not check.ok} == {"closes"}
    assert {check.name for check in run_checks([*RUNS, split], phased=True) if not check.ok} == {"split"}


def test_doubtful_cpu_time_is_an_estimate_at_best() -> None:
    doubtful, lossy = trial(6), trial(7)
    doubt = "its clocks have 0.08 s, samples met it for 2.7 s"
    doubtful.recorded.metered.reports[0] = typed({"own": {"doubt": doubt}})
    lossy.recorded.metered.reports[0] = typed({"own": {"source": "parents"}})
    for bad in (doubtful, lossy):
        done = run_checks([*RUNS, bad], phased=True)
        assert {check.name for check in done if not check.ok} == {"trusted"}
        assert award_grade(len(RUNS) + 1, done) == "estimate"


@pytest.mark.parametrize(("told", "said"), [(0.949, "at least 94.9 %"), (0.99999, "all"), (1.0, "all"), (1.002, "all")])
def test_the_number_of_samples_is_reported_correctly(told: float, said: str) -> None:
    sampled = trial()
    for account in sampled.accounts.values():
        account.coverage = told
    split = next(check for check in run_checks([sampled], phased=True) if check.name == "split")
    assert f"samples cover {said} of the subject's CPU time" in split.said


def test_the_plan_sets_the_limit_of_steal() -> None:
    noisy = [trial(number, steal=0.3) for number in range(1, 6)]
    assert all(check.ok for check in run_checks(noisy, phased=True))
    noisy[0].recorded.plan["validity"]["steal"] = "4%"
    steal = next(check for check in run_checks(noisy, phased=True) if check.name == "steal")
    assert not steal.ok
    assert steal.said == "the hypervisor took at most 5.0 % of the CPUs; 4.0 % is the stated limit"
