"""The runs that a certification makes by default, and how it announces them."""

from pathlib import Path

import pytest

from cuesta import _native
from cuesta.engine import certifier
from cuesta.engine.method import Method, method
from cuesta.plan import RawOptions, load
from tests.conftest import Write

PLAN = """
tape = "t.tape"
stagger = "0ms"
settle = "0s"
measure = "4s"
"""


@pytest.fixture
def made(write: Write, here: Path, monkeypatch: pytest.MonkeyPatch) -> "Made":
    monkeypatch.setattr(_native, "why_untraced", lambda **_: None)
    return Made(write, here)


class Made:
    """Makes the method of a plan."""

    def __init__(self, write: Write, here: Path) -> None:
        self.write = write
        self.here = here

    def __call__(self, more: str = "", target: str = "pipe:sh") -> Method:
        """The method of the plan with these additional rows."""
        self.write("t.tape", "Type a\nWait+Silence 100ms")
        plan = self.write("p.toml", f'{PLAN}target = "{target}"\n{more}')
        ((_, job),) = certifier.parts(load(RawOptions(plan=plan), self.here))
        return method(job)


def meters(how: Method) -> dict[str, str]:
    jobs = {"timed": how.timed, **how.extra}
    recorded = {what: job.plan.settings.meters for what, job in jobs.items()}
    assert recorded == {what: job.plan.steps[0].settings.meters for what, job in jobs.items()}
    return recorded


def test_every_run_of_the_method_is_made_without_a_flag(made: Made) -> None:
    how = made()
    assert meters(how) == {"timed": "exact", "traced": "calls", "linkage": "none", "control": "none"}
    assert how.untraced is None
    assert how.runs(5) == {"warm_up": 1, "timed": 5, "traced": 1, "linkage": 1, "control": 1}


def test_the_total_length_is_printed_in_advance(made: Made) -> None:
    how = made()
    assert how.seconds(5) == 9 * 6.0
    assert how.rows(5)[-1].endswith("1 run without meters, as the control: about 54 s")


@pytest.mark.parametrize(
    ("asked", "timed", "traced"),
    [
        ("auto", "exact", "calls"),
        ("exact", "exact", "calls"),
        ("machine", "exact:machine", "calls:machine"),
        ("exact:pid:7", "exact:pid:7", "calls:pid:7"),
        ("calls:cpus:0-1", "exact:cpus:0-1", "calls:cpus:0-1"),
    ],
)
def test_the_subject_of_the_plan_is_traced(made: Made, asked: str, timed: str, traced: str) -> None:
    found = meters(made(f'meters = "{asked}"'))
    assert (found["timed"], found["traced"]) == (timed, traced)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ("plain", 'the plan says meters = "plain"'),
        ("none", 'the plan says meters = "none"'),
        ("ssh://h", "the host is metered elsewhere (ssh://h), and only this machine is traced"),
    ],
)
def test_explicit_meters_are_respected_and_reported(made: Made, asked: str, why: str) -> None:
    how = made(f'meters = "{asked}"')
    assert (how.untraced, how.timed.plan.settings.meters, "traced" in how.extra) == (why, asked, False)
    assert how.rows(5)[-1] == f"not traced: {why}; the form will lack the figures that need tracing"


def test_the_reason_for_no_tracing_is_printed(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "why_untraced", lambda **_: "no tracers are built in")
    how = made()
    assert meters(how) == {"timed": "auto", "linkage": "none", "control": "none"}
    assert how.untraced == "no tracers are built in"


def test_linkers_report_only_for_own_programs(made: Made) -> None:
    assert "linkage" not in made(target="telnet://127.0.0.1:2323").extra
