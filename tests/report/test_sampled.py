"""Shares that rest on samples, in every renderer: significant digits only, an interval, and a bound without samples."""

from pathlib import Path
from typing import Any

import pytest

from cuesta.ledger.record import RecordFigure
from cuesta.report import form, meters
from cuesta.report.host_section import describe_shared, describe_unsampled, list_causes
from tests.analysis.test_host_figures import of_report
from tests.meter_reports import meter_report, missing, plain, typed


def cause(percent: float, error: float, low: float, high: float, samples: float) -> dict[str, Any]:
    return {
        "percent": plain(percent),
        "standard_error": plain(error),
        "calibration_error": plain(0.0),
        "interval": plain([low, high]),
        "samples": plain(samples),
        "seconds": plain(0.0123),
        "count": plain(56.0),
        "average": plain(0.0123 / 56),
    }


EIGHTY = plain(
    {
        "causes": {
            "user": cause(51.2345, 5.6, 40.0, 62.4, 41),
            "page_faults": cause(48.7654, 5.6, 37.5, 60.0, 39),
        },
        "unmet": ["linking", "mapping"],
        "bound": plain(4.5),
        "unclassified": 0.0,
        "about": {"samples": plain(80.0)},
    }
)
"""Figures from eighty samples."""


def test_eighty_samples_are_not_printed_to_three_digits(tmp_path: Path) -> None:
    host = of_report(tmp_path, meter_report(by_cause=EIGHTY))
    assert list(list_causes(host.meter_report.by_cause.value.causes)) == ["user 51 [40–62]", "page faults 49 [38–60]"]
    assert list(describe_unsampled(host)) == ["no sample met linking, mapping: each under 4 %"]
    assert host.cpu_by_cause_se == {"user": 5.6, "page_faults": 5.6}
    assert host.cpu_by_cause_interval["mapping"] == (0.0, 4.5)
    assert set(host.cpu_by_cause) == set(host.cpu_by_cause_se)


def test_a_meter_report_has_intervals_and_no_excess_digits() -> None:
    text = meters.text(typed(meter_report(by_cause=EIGHTY)))
    rows = {row.split()[0]: row.split() for row in text.partition("95 % interval")[2].splitlines()[1:3]}
    assert rows["user"] == ["user", "51", "40–62", "12", "ms", "56", "220", "µs", "plain"]
    assert "no sample met linking, mapping: each under 4 %" in text
    assert "not classified: 0 of 80 samples" in text
    assert "51.2" not in text


@pytest.mark.parametrize(
    ("figure", "unit", "cell", "within"),
    [
        (RecordFigure(value=0.1234, standard_error=0.02, low=0.09, high=0.17), "s", "120 ms", "90–170 ms"),
        (RecordFigure(value=0.1234, standard_error=0.0004, low=0.1226, high=0.1242), "s", "123 ms", "122.6–124.2 ms"),
        (RecordFigure(value=0.0, standard_error=0.002, low=0.0, high=0.0037), "s", "under 4 ms", ""),
        (RecordFigure(value=0.25, standard_error=0.04, low=0.17, high=0.33), "share", "25 %", "17–33 %"),
        (RecordFigure(value=0.0), "s", "0 s", ""),
    ],
)
def test_a_figure_of_the_certification_form(figure: RecordFigure, unit: str, cell: str, within: str) -> None:
    assert (form.write_figure(figure, unit), form.write_interval(figure, unit)) == (cell, within)


def test_the_network_share_has_an_interval_or_without_samples_a_bound(tmp_path: Path) -> None:
    def write(percent: float, limits: list[float]) -> str:
        share = {"percent": plain(percent), "seconds": plain(0.1), "in_subject": plain(0.05), "interval": plain(limits)}
        return " ".join(describe_shared(typed(meter_report(network=share, beside={}))))

    assert write(12.345, [8.0, 17.0]).startswith("network, shared: 12 [8–17] % of the machine's")
    assert write(0.0, [0.0, 0.37]).startswith("network, shared: no sample met it: under 0.4 % of")


def test_missing_errors_are_not_zero(tmp_path: Path) -> None:
    share = {"percent": plain(3.5), "seconds": plain(1.0), "count": missing(), "average": missing()}
    traced = plain({"causes": {"user": share}, "unclassified": 0.0, "about": {}})
    host = of_report(tmp_path, meter_report(by_cause=traced))
    assert ", ".join(list_causes(host.meter_report.by_cause.value.causes)) == "user 3.5"
    assert host.cpu_by_cause_se == {}
