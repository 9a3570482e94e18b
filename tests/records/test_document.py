"""What is made from the declarations of records: types, documents, and what is read from JSON with them."""

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from cuesta.engine.local.metering import compact
from cuesta.records.document import json_schema, make_files
from cuesta.records.merging import merge_records
from cuesta.records.meter_figure import UNRECORDED, to_json
from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json
from cuesta.records.rows import ArrivalCounts, DriverCounts, SeriesRow, WaitingCounts, WaitSample
from tests.meter_reports import Row, meter_report, traced, typed

DOCS = Path(__file__).parents[2] / "docs"
ARRIVALS = [field.name for field in fields(ArrivalCounts)]


def test_what_is_made_from_the_declarations_is_fresh() -> None:
    for file, text in make_files(DOCS).items():
        assert file.read_text(encoding="utf-8") == text, f"{file}: run ./scripts/docs"


def test_the_schema_refers_to_what_it_defines() -> None:
    defined = json.loads(json_schema())["$defs"]
    stray = defined["SeriesRow"]["properties"]["stray"]
    assert (stray["type"], stray["unit"]) == ("integer", "number")
    assert defined["DriverCounts"]["properties"]["waiting"]["$ref"] == "#/$defs/WaitingCounts"
    assert "phase" in defined["SeriesRow"]["required"]
    assert "stray" not in defined["SeriesRow"]["required"]


@pytest.mark.parametrize("report", [meter_report(), meter_report(part=False), traced()])
def test_a_report_is_read_and_written_whole(report: Row) -> None:
    read = typed(report)
    assert typed(to_json(read)) == read
    assert read.own.seconds.value == report["own"]["seconds"]["value"]
    assert read.by_cause.why == report["by_cause"].get("why")


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


def row(**fields: Any) -> SeriesRow:
    base = {
        **dict.fromkeys(("users", "active", "transactions", "keys", "unfinished", "step", "threads"), 1),
        **dict.fromkeys(("start", "length", "oldest", "cpu", "run_wait"), 1.0),
        "phase": "measure",
        "characters": {"in": 3},
        "errors": {},
        "sums": dict.fromkeys(("think", "keying", "response", "response_from_sent"), 0.5),
    }
    return from_json(SeriesRow, base | fields)


def test_a_row_lacks_only_what_earlier_versions_did_not_record() -> None:
    assert (row().stray, row().waiting, row().characters.in_, row().said) == (0, None, 3, {})
    with pytest.raises(KeyError, match="keys"):
        from_json(SeriesRow, {"users": 1, "active": 1, "transactions": 1})
    with pytest.raises(TypeError, match="an object"):
        row(characters=5)


def test_rows_are_merged_by_the_rules_of_their_declaration() -> None:
    sample = {"seconds": 1.0, "condition": "Line", "users": 1}
    rows = [
        row(errors={"reset": 1}, set_aside=4, stray=1, waiting={"answers": 2, "oldest": 3.0}),
        row(errors={"reset": 2, "timeout": 1}, set_aside=2, oldest=9.0, samples={"reset": sample}),
        row(
            samples={"reset": sample | {"condition": "Screen"}},
            due=dict.fromkeys(ARRIVALS, 2),
        ),
    ]
    counts = merge_records(DriverCounts, rows)
    assert (counts.users, counts.stray, counts.set_aside, counts.oldest) == (3, 1, 4, 9.0)
    assert (counts.errors, counts.sums.think) == ({"reset": 3, "timeout": 1}, 1.5)
    assert counts.samples["reset"] == from_json(WaitSample, sample)
    assert counts.waiting == WaitingCounts(answers=2, oldest=3.0)
    assert counts.due == ArrivalCounts(**dict.fromkeys(ARRIVALS, 2))
    assert (merge_records(DriverCounts, []).keys, merge_records(DriverCounts, []).characters.out) == (0, 0)
