"""Meter reports for a terminal: their text and its width."""

import time

from syrupy.assertion import SnapshotAssertion

from cuesta.report import meter_rows, meters
from tests.meter_reports import meter_report, missing, plain, traced, typed

WIDTH = 100


def test_a_meter_report_of_a_host(snapshot: SnapshotAssertion) -> None:
    assert "\n" + meters.text(typed(meter_report(wall=0))).replace(*when()) + "\n" == snapshot


def test_what_may_run_out_is_shown_beside_its_limit() -> None:
    once = {"count": 2, "per_s": 0.1}
    levels = {"ptys": plain(7), "pty_limit": plain(4096), "files": plain(413), "file_limit": plain(2466177)}
    logins = {
        "startups": plain(3),
        "startups_start": plain(10),
        "startups_full": plain(60),
        "login_grace": plain(120.0),
    }
    limits = levels | logins | {"listen_overflows": plain(once), "oom_kills": plain({"count": 0, "per_s": 0.0})}
    text = meters.text(typed(meter_report(limits=limits)))
    assert "pseudo-terminals 7 of 4,096, open files 413 of 2,466,177" in text
    assert "logins under way at sshd 3, MaxStartups 10:?:60, each at most 120 s" in text
    assert "accept queue full 2\n" in text
    assert "killed for memory" not in text


def test_a_traced_meter_report_says_so_in_its_rows() -> None:
    text = meters.text(typed(traced()))
    shown = [
        "page-wait idle     12.0 %  exact",
        "loading idle        3.0 %  exact",
        "throttled idle      1.0 %  exact",
        "page wait                31.4 µs  of each of 2.0 page faults a second that waited  exact",
        "user and calls",
        "                           count    total      p50      p90      p99      max  exact",
        "asleep                     300   28.8 s  80.0 ms   160 ms   320 ms   720 ms",
        "in a run queue             360  2.16 ms  5.00 µs  10.0 µs  20.0 µs  45.0 µs",
    ]
    assert [row for row in shown if row not in text] == []
    assert "not classified" not in text
    assert max(map(len, text.splitlines())) <= WIDTH


def test_a_meter_report_older_than_the_tracers_is_shown() -> None:
    old = meter_report()
    for name in ("page_wait", "loading", "quota_wait"):
        del old["idle"][name]
    for name in ("page_waits", "page_wait", "run_queue_delay", "off_cpu"):
        del old["traffic"][name]
    del old["own"]["irq"]
    assert "zero idle" in meters.text(typed(old))
    assert meter_rows.interval_row(typed(old)) == meter_rows.interval_row(typed(meter_report()))


def test_the_cost_of_sampling_is_called_overhead() -> None:
    seconds = {"interrupts_seconds": 0.19, "reader_seconds": 0.05, "for_linker_seconds": 0.004}
    about = {"calls_estimated": -0.0, "samples": 9663.0, "named_calls_percent": 100.0, **seconds}
    by_cause = {"causes": {}, "unclassified": 0.1, "about": {name: plain(value) for name, value in about.items()}}
    text = " ".join(meters.text(typed(meter_report(by_cause=plain(by_cause)))).split())
    assert "overhead 240 ms, 0.40 % of the CPUs' time; calls estimated 0; samples 9,663;" in text
    assert "calls with a name 100.0 %; interrupts 190 ms; reader 50.0 ms; for the linker 4.00 ms" in text


NO_FIGURES = ("source", "others_are_rest", "doubt")


def test_an_ended_subject_is_reported_without_time() -> None:
    gone = meter_report()
    figures = {name: missing("process 4711 has ended") for name in gone["own"] if name not in NO_FIGURES}
    gone["own"] = {**gone["own"], **figures}
    text = meters.text(typed(gone))
    assert "SUBJECT   no meter data: process 4711 has ended" in text
    assert "TIME      no meter data: process 4711 has ended" in text
    assert "zero idle                   64.0" not in text


def test_rows(snapshot: SnapshotAssertion) -> None:
    without = meter_report(cpu={name: missing() for name in meter_report()["cpu"]})
    without["own"]["irq"] = missing()
    rows = [
        meter_rows.head(),
        meter_rows.interval_row(typed(meter_report())),
        meter_rows.interval_row(typed(meter_report(part=False))),
        meter_rows.interval_row(typed(without)),
    ]
    assert "\n" + "\n".join(each[8:] for each in rows) + "\n" == snapshot


def test_interrupts_without_separate_time_stand_with_others() -> None:
    mingled = meter_report()
    mingled["own"]["irq"], mingled["own"]["others"] = missing("in whose time they came"), plain(19.0)
    assert "on its CPUs others and interrupts 19.0 %  plain" in meters.text(typed(mingled))
    assert list(meter_rows.list_gaps(typed(mingled))) == ["no meter data for %irq: in whose time they came"]


def test_an_empty_cell_has_a_reason_and_each_reason_is_given_once() -> None:
    gapped = meter_report()
    gapped["cpu"]["steal"] = gapped["traffic"]["ready"] = missing("not there")
    gapped["counts"]["minor_faults"] = gapped["counts"]["major_faults"] = missing("not counted")
    assert list(meter_rows.list_gaps(typed(gapped))) == [
        "no meter data for %steal, queue: not there",
        "no meter data for faults/s: not counted",
    ]
    assert list(meter_rows.list_gaps(typed(meter_report()))) == []


def test_no_row_is_wider_than_a_terminal() -> None:
    busy = meter_report()
    busy["counts"]["minor_faults"] = {"value": {"count": 10**9, "per_s": 8e6}, "tier": "plain"}
    rows = [*meters.text(typed(meter_report())).splitlines(), meter_rows.head(), meter_rows.interval_row(typed(busy))]
    assert max(map(len, rows)) <= WIDTH


def test_foreign_text_sends_no_control_codes() -> None:
    text = meters.text(typed(meter_report(subject="cgroup:/\x1b[2J", notes=["\x1b]0;x\x07"])))
    assert "\x1b" not in text
    assert "\x07" not in text


def when() -> tuple[str, str]:
    """The beginning of the epoch in this time zone, and the text that replaces it."""

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(0)), "THEN"
