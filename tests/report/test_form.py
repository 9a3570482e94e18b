"""The form of a certification with known figures, as text and as a page that fetches nothing."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.certify.grade import award_grade, run_checks
from cuesta.analysis.certify.record import NOTHING, derive_measurements, describe_driver, run_row
from cuesta.ledger.certification import Certification
from cuesta.ledger.record import CertificationSetup, Published, Record, RecordFigure, Reference, Workload
from cuesta.report import form, form_page
from tests.certification_runs import METHOD, extra_runs, trial
from tests.ledger.test_certification import GIVEN

PUBLISHED = Published(
    what="process creation, CPU time",
    figure="response{process creation}.mean",
    unit="s",
    published=18.1,
    bound=None,
    measured=RecordFigure(value=0.5),
    source="MPL-17",
)
WORK = Workload(
    tape="cert",
    sha256="0123456789abcdef",
    target="pty:bash",
    attached="typewriter",
    users=4,
    load="closed",
    seed=1,
    stagger="0ms",
)


def record(runs: int, **changed: object) -> Record:
    """A certification with this number of runs."""
    known = CertificationSetup.model_validate(
        {
            **GIVEN,
            "settings": {"vm.swappiness": "60"},
            "hardware": {"processors": "2"},
            "factors": ["a virtual machine"],
            "reference": Reference(system="2.3", seconds=0.4, sha256="0", runs=[0.4, 0.402, 0.398, 0.404, 0.396]),
            **changed,
        }
    )
    trials = [trial(number) for number in range(1, runs + 1)]
    done = run_checks(trials, phased=True)
    certification = Certification(Path(), known, [], [], [], None)
    return Record(
        id="00ff",
        given=known,
        driver=describe_driver(trials),
        workload=WORK,
        method=METHOD.model_copy(update={"runs": runs}),
        runs=[run_row(certification, each) for each in trials],
        measurements=derive_measurements(trials, known.reference, extra_runs()),
        published=[PUBLISHED],
        checks=done,
        grade=award_grade(runs, done),
        because=[check.said for check in done if not check.ok],
        warnings=[],
        raw={"run-1/run.json": "00"},
    )


@pytest.mark.parametrize("runs", [5, 1])
def test_the_form_as_text(runs: int, snapshot: SnapshotAssertion) -> None:
    assert form.text(record(runs), Path("certified/3.0.5")) == snapshot


def test_a_figure_without_data_is_not_zero() -> None:
    nothing = record(0).model_copy(update={"workload": NOTHING})
    text = form.text(nothing, Path("c"))
    assert "number of processes used: — (no run was begun)" in text
    assert "script used: — (no run was begun)" in text


def test_foreign_names_send_no_control_codes_or_markup() -> None:
    nasty = record(1, system="3.0.5\x1b[2J<script>alert(1)</script>", comments=["\x1b]0;title\x07 <b>"])
    assert "\x1b" not in form.text(nasty, Path("c"))
    assert "\x1b" not in (page := form_page.build_page(nasty, Path("c")))
    assert "<script>alert" not in page
    assert "<b>" not in page


def test_the_page_has_the_same_figures_and_says_how_each_is_computed() -> None:
    page = form_page.build_page(record(5), Path("certified"))
    assert "CERTIFIED" in page
    assert "b ÷ number" in page
    assert "How each figure is computed" in page
    assert ">3.  Average time for execution of command sequence<" in page, "rows have the numbers that formulas use"
    assert page.index("a. CPU time breakdown") < page.index("Time used by subject processes"), (
        "the title is above the table"
    )
    assert "MPL-17" in page
    for part in (
        "I Variable settings",
        "II Hardware",
        "III Other factors",
        "IV Measurements",
        "V Original",
        "VI Comments",
    ):
        assert part in page
