"""How a test ends by what was measured, and what pytest prints."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from cuesta.pytest_plugin import measuring
from cuesta.workflow import library
from tests.pytest_plugin.conftest import Session
from tests.pytest_plugin.made_up_runs import MEASURED

pytest_plugins = ["pytester"]


def write_test(pytester: pytest.Pytester, target: str, marker: str = 'limit="echo.p95 < 50ms"', body: str = "") -> None:
    pytester.makepyfile(
        test_app=f"""
        import pytest

        @pytest.mark.cuesta({marker})
        def test_typing(cuesta):
            run = cuesta({target!r})
            {body}
        """
    )


def test_a_limit_that_is_kept_passes(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms", body="assert 0.004 <= run.echo.p95 < 0.005")
    ended = session()
    ended.assert_outcomes(passed=1)
    ended.stdout.re_match_lines(
        [r"test +echo p50 +echo p95 +verdict", r"test_app.py::test_typing +4\.\d+ ms +4\.\d+ ms +passed"]
    )


def test_a_limit_that_is_crossed_fails_with_the_sentence_and_the_page(
    pytester: pytest.Pytester, session: Session
) -> None:
    write_test(pytester, "pty:echo=80ms", body="raise AssertionError('the test went on')")
    ended = session()
    ended.assert_outcomes(failed=1)
    *_, page = (row for row in ended.outlines if row.startswith("page: "))
    assert Path(page.removeprefix("page: ")).read_text() == "the page"
    ended.stdout.re_match_lines(
        [
            r"4 users at the built-in host \(host:\): a key echoes in 80.*; valid; limit crossed: echo.p95 < 50ms",
            r"limit crossed: echo.p95 < 50ms: 81\.\d ms",
            r"typed was the tape `typing`, because the test names none: tape=…",
            r"page: .*/report.html",
        ],
        consecutive=True,
    )
    assert "made_up_runs.py" not in ended.stdout.str(), "the plugin's own code is no part of the failure"


def test_a_program_that_fails_fails_its_test_even_without_a_limit(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms lost", marker="")
    ended = session("--cuesta-undecided", "pass")
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["4 of 4 users had no line at the end (allowed 1.0 %)*"])


@pytest.mark.parametrize(
    ("target", "marker", "outcome"),
    [
        ("pty:echo=80ms red", 'limit="echo.p95 < 50ms"', "failed"),
        ("pty:echo=4ms red stolen", "", "skipped"),
        ("pty:echo=4ms red", "", "passed"),
    ],
)
def test_no_control_sequence_of_a_program_reaches_the_terminal(
    pytester: pytest.Pytester, session: Session, target: str, marker: str, outcome: str
) -> None:
    write_test(pytester, target, marker)
    ended = session("-v", "-rs")
    ended.assert_outcomes(**{outcome: 1})
    assert "\x1b" not in ended.stdout.str()
    assert "[31m" in ended.stdout.str()


UNDECIDED = [
    ("pty:echo=4ms keys=44", "limit not decided: echo.p95 < 50ms: 4.0? ms: 44 values cannot show it: 45 are needed*"),
    ("pty:echo=4ms stolen", "the hypervisor took 50.0 % of the host's CPUs (allowed 10.0 %)*"),
    ("pty:echo=80ms stolen", "the hypervisor took 50.0 % of the host's CPUs (allowed 10.0 %)*"),
]


@pytest.mark.parametrize(("target", "why"), UNDECIDED)
@pytest.mark.parametrize(("option", "outcome"), [((), "skipped"), (("fail",), "failed"), (("pass",), "passed")])
def test_what_cannot_be_told_is_skipped_or_what_the_option_says(
    pytester: pytest.Pytester, session: Session, target: str, why: str, option: tuple[str, ...], outcome: str
) -> None:
    write_test(pytester, target)
    ended = session(*(("--cuesta-undecided", *option) if option else ()))
    ended.assert_outcomes(**{outcome: 1})
    ended.stdout.re_match_lines([r"test_app.py::test_typing .* cannot tell"])
    assert any(row.startswith(why[:30]) or row.strip().startswith(why[:30]) for row in ended.outlines)


def test_a_run_that_the_machine_disturbed_is_made_again(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms stolen-once")
    session().assert_outcomes(passed=1)
    assert [each.get("seed", 1) for each in MEASURED] == [1, 2]


def test_terms_are_settings_of_plans_and_paths_are_relative_to_the_test(
    pytester: pytest.Pytester, session: Session
) -> None:
    folder = pytester.mkdir("deep")
    (folder / "test_app.py").write_text(
        "import pytest\n"
        'pytestmark = pytest.mark.cuesta(tape="edit.tape", measure="3s", limit="errors.count == 0")\n'
        '@pytest.mark.cuesta(limit="echo.p95 < 50ms", users=2)\n'
        "def test_typing(cuesta):\n"
        '    cuesta("pty:echo=4ms", measure="1s")\n'
        '    cuesta("pty:echo=5ms", tape="typing", limits=["echo.p50 < 1s", "echo.max < 2s"])\n'
    )
    session().assert_outcomes(passed=1)
    first, second = MEASURED
    assert (first["tape"], first["here"], first["users"], first["measure"]) == ("edit.tape", folder, 2, "1s")
    assert (first["limits"], second["limits"]) == (["echo.p95 < 50ms"], ["echo.p50 < 1s", "echo.max < 2s"])


@pytest.mark.parametrize(
    ("marker", "text"),
    [
        ("limt='echo.p95 < 50ms'", "no such setting"),
        ("'echo.p95 < 50ms'", "expected NAME=VALUE, got 'echo.p95 < 50ms'"),
        ("runs=0", "runs: expected a number of runs, got 0: it must be from 1 to 500"),
        ("margin='much'", "--margin: expected a percentage or a duration, got 'much'"),
        ("figures='ecko.p95'", "did you mean `echo.p95`?"),
        ("limit=50", "limit: expected a text, got 50"),
        ("limits=None", "limits: expected a text, got None"),
    ],
)
def test_a_wrong_term_names_the_test(
    pytester: pytest.Pytester, session: Session, monkeypatch: pytest.MonkeyPatch, marker: str, text: str
) -> None:
    monkeypatch.setattr(measuring, "run", library.run)  # it reads the settings
    write_test(pytester, "pty:true", marker)
    ended = session()
    ended.assert_outcomes(failed=1)
    assert [row for row in ended.outlines if row.startswith("test_app.py::test_typing: ") and text in row]


@pytest.mark.parametrize("arguments", ["", "cuesta"])
def test_a_limit_that_nothing_is_held_against_fails(
    pytester: pytest.Pytester, session: Session, arguments: str
) -> None:
    limit = '@pytest.mark.cuesta(limit="echo.p95 < 50ms")'
    others = f"{limit}\nclass TestOthers:\n    def test_other(self): pass\n"
    pytester.makepyfile(test_app=f"import pytest\n{limit}\ndef test_typing({arguments}): pass\n{others}")
    ended = session()
    ended.assert_outcomes(failed=1, passed=1)
    ended.stdout.fnmatch_lines(["test_app.py::test_typing: nothing was measured"])


def test_a_test_without_a_target_says_how_to_name_one(pytester: pytest.Pytester, session: Session) -> None:
    pytester.makepyfile("def test_typing(cuesta): cuesta()")
    ended = session()
    ended.assert_outcomes(failed=1)
    ended.stdout.fnmatch_lines(["*::test_typing: no target to type at", 'name it: cuesta("pty:./app notes.txt")'])


def test_tests_that_use_the_fixture_are_selected_by_the_marker(pytester: pytest.Pytester, session: Session) -> None:
    pytester.makepyfile("def test_typing(cuesta): cuesta('pty:echo=4ms')\ndef test_other(): pass")
    session("-m", "cuesta", "--strict-markers").assert_outcomes(passed=1, deselected=1)
    assert len(MEASURED) == 1


def test_quiet_and_verbose(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms")
    assert "cuesta" not in session("-q").stdout.str()
    rows = [
        r"test_app.py::test_typing .*passed",
        r"  4 users at .*",
        r"  typed was the tape `typing`, .*",
        r"  page: .*/run-1/report.html",
    ]
    session("-v").stdout.re_match_lines(rows)


def test_a_session_that_measures_nothing_says_nothing(pytester: pytest.Pytester, session: Session) -> None:
    pytester.makepyfile("def test_other(): pass")
    assert "cuesta" not in session().stdout.str()


def test_run_folders_go_where_they_are_asked_for(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms")
    for _ in range(2):
        session("--cuesta-out", "kept").assert_outcomes(passed=1)
    made = sorted(str(file.relative_to(pytester.path)) for file in pytester.path.glob("kept/*/*/run.json"))
    assert made == ["kept/test_app.test_typing-2/run-1/run.json", "kept/test_app.test_typing/run-1/run.json"]


def test_figures_are_properties_of_junit(pytester: pytest.Pytester, session: Session) -> None:
    write_test(pytester, "pty:echo=4ms", body="cuesta('pty:echo=6ms')")
    session("--junitxml", "junit.xml")
    rows = ElementTree.parse(pytester.path / "junit.xml").iter("property")
    properties = {row.attrib["name"]: row.attrib["value"] for row in rows}
    assert (properties["verdict"], properties["page"][-18:]) == ("passed", "/run-1/report.html")
    assert 0.004 <= float(properties["echo.p50"]) <= float(properties["echo.p95"]) < 0.006
    assert 0.006 <= float(properties["echo.p50 #2"]) < 0.007
