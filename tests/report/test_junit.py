"""The report as JUnit XML."""

from pathlib import Path
from xml.etree.ElementTree import Element, parse

from cuesta.analysis.summary import summarise
from cuesta.report.junit import write_junit
from tests.report import made_up
from tests.run_folder import edit_run


def suites(tmp_path: Path, *folders: Path) -> list[Element]:
    file = tmp_path / "junit.xml"
    write_junit({folder.name: summarise(folder) for folder in folders}, file)
    top = parse(file).getroot()
    assert top.tag == "testsuites"
    for name in ("tests", "failures", "errors"):
        assert int(top.get(name, "-1")) == sum(int(suite.get(name, "-1")) for suite in top)
    return list(top)


def cases(suite: Element) -> dict[str, str]:
    """The outcome of each test case."""
    return {
        case.get("name", ""): next((each.tag for each in case if each.tag != "system-out"), "passed")
        for case in suite.findall("testcase")
    }


def test_there_is_a_case_for_validity_and_one_for_each_limit(tmp_path: Path) -> None:
    (suite,) = suites(tmp_path, made_up.good(tmp_path / "run"))
    assert cases(suite) == {
        "validity": "passed",
        "response.p95 < 2s": "passed",
        "response{a, b/c}.p50 < 50ms": "failure",
        "errors.rate < 1%": "passed",
    }
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "1", "0")
    assert suite.get("timestamp") == "2026-11-21T01:23:45"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == "response{a, b/c}.p50 < 50ms: measured 100 ms"


def test_an_invalid_run_is_an_error(tmp_path: Path) -> None:
    good, bad = suites(tmp_path, made_up.good(tmp_path / "good"), made_up.bad(tmp_path / "bad"))
    assert cases(good)["validity"] == "passed"
    assert cases(bad) == {"validity": "error"}
    error = bad.find("testcase/error")
    assert error is not None
    assert "use fewer users" in (error.text or "")


def test_limits_of_a_sweep_name_their_step(tmp_path: Path) -> None:
    folder = made_up.sweep(tmp_path / "run")
    with edit_run(folder) as run:
        run["plan"]["limits"] = ["response.p50 < 150ms"]
    (suite,) = suites(tmp_path, folder)
    assert cases(suite) == {
        "validity": "error",
        "step 1: response.p50 < 150ms": "passed",
        "step 2: response.p50 < 150ms": "failure",
        "step 3: response.p50 < 150ms": "failure",
    }


def test_characters_that_xml_forbids_are_left_out(tmp_path: Path) -> None:
    folder = made_up.good(tmp_path / "run")
    run = (folder / "run.json").read_text().replace("2026-11-21T01:23:45Z", "\\u0001<&")
    (folder / "run.json").write_text(run)
    (suite,) = suites(tmp_path, folder)
    assert suite.get("timestamp") == "�<&"
