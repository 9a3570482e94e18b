"""The types of meter reports, their documentation, and their two forms on disk."""

from pathlib import Path

import pytest

from cuesta.engine.local.metering import compact
from cuesta.records import schema
from cuesta.records.meter_figure import UNRECORDED, to_json
from cuesta.records.meter_report import MeterReport
from tests.meter_reports import Row, meter_report, traced, typed

RENEW = "run `python -m cuesta.records.schema`, then `ruff format`"


def test_the_types_are_those_of_the_schema() -> None:
    for name, table in schema.tables().items():
        if name in schema.READ_AS_MAPS:
            continue
        kinds = {field.name: schema.annotation(field.kind) for field in table.fields.values()}
        written = schema.TYPES.read_text(encoding="utf-8").partition(f"\nclass {name}:\n")[2].partition("\n@")[0]
        assert {field: kind for field, kind in kinds.items() if f"\n    {field}: {kind}\n" in written} == kinds, RENEW


def test_the_documentation_has_the_figures_of_the_schema() -> None:
    page = Path(__file__).parents[2] / "docs" / "meters.md"
    text = page.read_text(encoding="utf-8")
    assert schema.document(text) == text, RENEW


@pytest.mark.parametrize("made", [meter_report(), meter_report(part=False), traced()])
def test_a_report_is_read_and_written_whole(made: Row) -> None:
    report = typed(made)
    assert typed(to_json(report)) == report
    assert report.own.seconds.value == made["own"]["seconds"]["value"]
    assert report.by_cause.why == made["by_cause"].get("why")


def test_the_compact_form_has_the_same_values_without_tiers_and_reasons() -> None:
    full, short = typed(meter_report()), typed(compact(meter_report()))
    assert short.counts.minor_faults.value == full.counts.minor_faults.value
    assert (short.cpu.usr.value, short.cpu.usr.tier) == (full.cpu.usr.value, None)
    assert (short.by_cause.value, short.by_cause.why) == (None, UNRECORDED)


def test_figures_that_an_older_record_lacks_are_not_zero() -> None:
    report: MeterReport = typed({"own": {"seconds": {"value": 1.0, "tier": "plain"}}})
    assert (report.own.seconds.value, report.own.irq.why) == (1.0, UNRECORDED)
    assert report.own.others_are_rest is None
    assert str(report.seconds) == "nan"
    assert to_json(report)["seconds"] is None
