"""Writes a report as JUnit XML for continuous integration: a suite for each run, with a case for validity and one for
each limit. An invalid run is an error, because its limits were not tested, and so is a limit that was not decided; a
crossed limit is a failure.
"""

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element, ElementTree, SubElement, indent

from cuesta.analysis.limits import NOT_DECIDED
from cuesta.analysis.summary import Summary
from cuesta.figures.step import LimitResult
from cuesta.plain_text import plain, plain_rows
from cuesta.private_files import private
from cuesta.report.limits import describe_limit_result, limit_status
from cuesta.report.validity import describe_ending, describe_punctuality, join_advice, list_doubts

ADVICE = "the figures cannot be relied on"


def write_junit(runs: Mapping[str, Summary], file: Path) -> None:
    """Write the verdicts of runs by name."""
    top = Element("testsuites", name="cuesta")
    for name, run in runs.items():
        _add_suite(top, name, run)
    for count in ("tests", "failures", "errors"):
        top.set(count, str(sum(int(each.get(count, "0")) for each in top)))
    indent(top)
    _make_plain(top)
    with open(file, "wb", opener=private) as out:
        ElementTree(top).write(out, encoding="utf-8", xml_declaration=True)


def _make_plain(top: Element) -> None:
    """Make all texts plain: XML does not allow control characters."""
    for element in top.iter():
        element.attrib = {name: plain(value) for name, value in element.attrib.items()}
        element.text = plain_rows(element.text or "") or None


def _add_suite(top: Element, name: str, run: Summary) -> None:
    own = SubElement(top, "testsuite", name=name)
    _add_validity(own, name, run)
    for step in run.steps:
        for verdict in step.limits:
            place = f"step {step.step + 1}: " if len(run.steps) > 1 else ""
            _add_limit(_add_case(own, name, f"{place}{verdict.limit}", step.seconds), verdict, run)
    own.set("tests", str(len(own)))
    own.set("failures", str(len(own.findall("testcase/failure"))))
    own.set("errors", str(len(own.findall("testcase/error"))))
    own.set("time", f"{sum(step.seconds for step in run.steps):.3f}")
    if started := str(run.recorded.run.get("started", "")).removesuffix("Z"):
        own.set("timestamp", started)


def _add_validity(own: Element, name: str, run: Summary) -> None:
    case = _add_case(own, name, "validity", 0.0)
    reasons = [join_advice(doubt) for doubt in list_doubts(run)]
    if reasons:
        SubElement(case, "error", message=reasons[0], type="INVALID").text = "\n".join([*reasons, ADVICE])
    SubElement(case, "system-out").text = "\n".join(filter(None, (describe_punctuality(run), describe_ending(run))))


def _add_limit(case: Element, verdict: LimitResult, run: Summary) -> None:
    text = describe_limit_result(verdict, run)
    measured = text if verdict.value is None else f"measured {text}"
    if limit_status(verdict) == NOT_DECIDED:
        message = f"{verdict.limit}: {NOT_DECIDED}: {measured}"
        SubElement(case, "error", message=message, type=NOT_DECIDED).text = measured
    elif not verdict.ok:
        SubElement(case, "failure", message=f"{verdict.limit}: {measured}", type="limit").text = measured
    SubElement(case, "system-out").text = measured


def _add_case(own: Element, classname: str, name: str, seconds: float) -> Element:
    return SubElement(own, "testcase", classname=classname, name=name, time=f"{seconds:.3f}")
