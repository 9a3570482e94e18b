"""How the comparison of a run with a service's profile is shown."""

import json

from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.representative import compare_mixes, derive_mix
from cuesta.ledger.service import ServiceProfile
from cuesta.report.representative import data, text
from tests.analysis.test_representative import causes
from tests.meter_reports import events, meter_report, typed

SERVICE = typed(meter_report(seconds=600.0, part=False, by_cause=causes(user=30.0, page_faults=20.0, linking=2.0)))
FEW = meter_report()["counts"] | {"switches": events(3, 30.0)}
RUN = typed(meter_report(by_cause=causes(user=11.5, page_faults=0.5), counts=FEW))


def test_the_printed_text(snapshot: SnapshotAssertion) -> None:
    output = text(
        compare_mixes(derive_mix(SERVICE), derive_mix(RUN)), ServiceProfile("2026-11-21T08:00:00Z", {}, SERVICE), RUN
    )
    assert "\n" + output + "\n" == snapshot
    assert all(len(row) <= 80 for row in output.splitlines())


def test_the_same_as_json() -> None:
    document = json.loads(json.dumps(data(compare_mixes(derive_mix(SERVICE), derive_mix(RUN)))))
    assert document["represents"] is False
    assert {"elsewhere", "load", "unexercised", "idles", "missing"} <= set(document), "names that programs read"
    assert document["shares"][0]["name"] == "user"
    assert document["rates"][0]["service"]["tier"] == "plain"
