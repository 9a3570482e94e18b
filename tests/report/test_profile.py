"""The histogram by location, in the form of `ic_sample`."""

from cuesta.records.meter_report import MeterReport
from cuesta.report import profile
from tests.meter_reports import typed


def _row(module: str, function: str, samples: int) -> dict[str, object]:
    return {"module": module, "function": function, "samples": samples, "percent": float(samples)}


def _meter_report(idle: dict[str, object]) -> MeterReport:
    return typed({"cpu": {"idle": idle, "iowait": {"value": 0.5, "tier": "plain"}}})


def test_the_largest_value_has_the_longest_bar_and_idle_is_counted() -> None:
    listing = {
        "samples": 100,
        "covered": 0.9,
        "more": 3,
        "locations": [
            _row("kernel", "tcp_ack", 60),
            _row("libc.so.6", "a::long::path::of::functions::in::a::crate", 30),
        ],
        "modules": [_row("kernel", "", 60), _row("libc.so.6", "", 40)],
    }
    text = profile.text(listing, _meter_report({"value": 15.0, "tier": "plain"}))
    rows = text.splitlines()
    assert rows[0] == "idle 15.5 % of the CPUs' time: counted, not sampled (plain)"
    assert "by location: 90.0 % of 100 busy samples; 3 more locations had the rest" in rows
    assert rows[3].split() == ["kernel", "tcp_ack", "60", "*" * profile.BAR]
    assert "…" in rows[4]
    assert rows[4].endswith("crate    30 " + "*" * 10)
    assert rows[-1].split() == ["libc.so.6", "40", "*" * 13]
    assert all(len(row) <= 80 for row in rows)


def test_a_profile_without_samples_says_so_and_absent_idle_is_not_zero() -> None:
    listing = {"samples": 0, "covered": 0.0, "more": 0, "locations": [], "modules": []}
    text = profile.text(listing, _meter_report({"why": "not readable"}))
    assert text.splitlines() == [
        "idle — of the CPUs' time: no meter data: not readable",
        "no sample fell into the subject: it was not on a CPU",
    ]
