"""The runs that a certification makes by default, and how it announces them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cuesta import _native
from cuesta.engine import certifier
from cuesta.engine.method import Method, choose_method
from cuesta.errors import InputError
from cuesta.plan import RawOptions, load
from tests.conftest import Write

PLAN = """
tape = "t.tape"
stagger = "0ms"
settle = "0s"
measure = "4s"
"""


Make = Callable[..., Method]


@pytest.fixture
def made(write: Write, here: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes the method of the plan, with additional rows, at a target."""
    monkeypatch.setattr(_native, "why_untraced", lambda **_: None)

    def make(more: str = "", target: str = "pipe:sh") -> Method:
        write("t.tape", "Type a\nWait+Silence 100ms")
        plan = write("p.toml", f'{PLAN}target = "{target}"\n{more}')
        ((_, job),) = certifier.split_by_group(load(RawOptions(plan=plan), here))
        return choose_method(job)

    return make


def meters(how: Method) -> dict[str, str]:
    jobs = {"timed": how.timed, **how.extra}
    recorded = {what: job.plan.settings.meters for what, job in jobs.items()}
    assert recorded == {what: job.plan.steps[0].settings.meters for what, job in jobs.items()}
    return recorded


def test_a_certification_is_of_one_host(made: Make) -> None:
    with pytest.raises(InputError, match="a certification is of one host, and this names 2") as refused:
        made('meters = "host=pid:7,farm=ssh://farm"')
    assert refused.value.remedy == "name the one that is certified: --meters pid:7"
    assert meters(made('meters = "host=pid:7"'))["timed"] == "exact:pid:7"


def test_every_run_of_the_method_is_made_without_a_flag(made: Make) -> None:
    how = made()
    assert meters(how) == {"timed": "exact", "traced": "calls", "linkage": "none", "control": "none"}
    assert how.untraced is None
    assert how.runs(5) == {"warm_up": 1, "timed": 5, "traced": 1, "linkage": 1, "control": 1}


def test_the_total_length_is_printed_in_advance(made: Make) -> None:
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
def test_the_subject_of_the_plan_is_traced(made: Make, asked: str, timed: str, traced: str) -> None:
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
def test_explicit_meters_are_respected_and_reported(made: Make, asked: str, why: str) -> None:
    how = made(f'meters = "{asked}"')
    assert (how.untraced, how.timed.plan.settings.meters, "traced" in how.extra) == (why, asked, False)
    assert how.rows(5)[-1] == f"not traced: {why}; the form will lack the figures that need tracing"


def test_the_reason_for_no_tracing_is_printed(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_native, "why_untraced", lambda **_: "no tracers are built in")
    how = made()
    assert meters(how) == {"timed": "auto", "linkage": "none", "control": "none"}
    assert how.untraced == "no tracers are built in"


def test_linkers_report_only_for_own_programs(made: Make) -> None:
    assert "linkage" not in made(target="telnet://127.0.0.1:2323").extra
