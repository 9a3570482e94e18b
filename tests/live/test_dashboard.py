import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from cuesta.engine.console import Requests
from cuesta.live import About, LiveLimit
from cuesta.live.interaction import Interaction
from cuesta.records.observation import Observation, RunOfSeries, SearchChoice, SearchState, SearchTrial
from cuesta.records.rows import MeterRecord
from tests.meter_reports import meter_report
from tests.snapshots import snapshot

HOSTILE = "\x1b[2J検\u202e" * 40
"""What a host or a plan may be called."""


def trial(number: int, load: float, ratio: float | None, **more: Any) -> SearchTrial:
    choice = SearchChoice(load=load, purpose="refine", because="where the limit seems to be")
    known = {"limit": "response.p95 < 2s", "value": ratio and 2 * ratio, "unit": "s", "low": None, "high": None}
    kept = None if ratio is None else ratio < 1
    return SearchTrial(
        number=number, load=load, users=int(load), choice=choice, ratio=ratio, **{"kept": kept, **known, **more}
    )


SEARCH = SearchState(
    objective=["response.p95 < 2s"],
    load="users",
    trials=[
        trial(1, 24, 0.5, low=24.0),
        trial(2, 96, 3.0, low=24.0, high=96.0),
        trial(3, 48, 1.1, low=24.0, high=50.0),
        trial(4, 44, None, low=24.0, high=50.0, notes=["the hypervisor took CPU time"]),
    ],
    limit=43.0,
    low=24.0,
    high=50.0,
    next=SearchChoice(load=44.0, purpose="repeat", because="the last trial there does not count"),
)


def busy(**more: Any) -> Observation:
    glimpses = [
        {"user": user, "group": "g", "because": because, "doing": "lost" if because == "failed" else "awaiting_answer"}
        | {"waited": 1.5, "condition": HOSTILE, "row": HOSTILE, "transactions": 3, "mean": 0.1}
        | {"lost": HOSTILE if because == "failed" else None}
        for user, because in enumerate(["slowest"] * 5 + ["typical"] * 5 + ["failed"] * 5)
    ]
    times = [0.01, 0.02, 1.5]
    seen = snapshot(response=times, echo=times, lateness=times, glimpses=glimpses, doing={"keying": 3, "lost": 5})
    meters = [MeterRecord(at=0, row=meter_report()), MeterRecord(at=0, gap=HOSTILE)]
    return Observation(snapshots=[seen], meters=meters, **more)


def draw(seen: Observation, width: int, height: int, *keys: str, told: tuple[str, ...] = ()) -> list[str]:
    """The rows of a screen after some keys."""
    limits = [LiveLimit("response.p95 < 2s", "response.p95", 2.0), LiveLimit("errors.rate < 1%", "", 0.01)]
    interaction = Interaction(About("a run", limits), Requests(), threading.Event())
    interaction.see(seen)
    for key in keys:
        interaction.press(key)
    return [row.plain for row in interaction.rows(told, 0.004, width, height)]


def starting(rows: list[str], name: str) -> list[str]:
    return [row for row in rows if row.startswith(name)]


@pytest.mark.parametrize("keys", [(), ("s",), ("m", "x"), ("p",)])
@given(width=st.integers(1, 200), height=st.integers(1, 60), is_search=st.booleans())
def test_rows_fill_a_terminal_of_any_size_and_no_more(
    keys: tuple[str, ...], width: int, height: int, is_search: bool
) -> None:
    rows = draw(busy(search=SEARCH if is_search else None), width, height, *keys, told=(HOSTILE,))
    assert len(rows) == height
    assert {cell_len(row) for row in rows} == {width}
    assert all(row.isprintable() for row in rows)


def test_the_smallest_terminal_has_what_matters_most() -> None:
    rows = draw(busy(), 60, 15)
    first = [row[:10].strip() for row in rows]
    assert [name for name in first if name] == [
        "a run", "━━━━━━━━━━", "USERS", "ECHO", "RESPONSE", "LIMIT", "LIMIT", "ERRORS", "KEYS", "ANSWERS", "DRIVER",
        "HOST 1", "HOST 2", "p hold sta",
    ]  # fmt: skip


def test_the_smallest_terminal_names_all_keys() -> None:
    assert draw(busy(), 60, 15)[-1].rstrip().endswith("q stop")


@pytest.mark.parametrize("seen", [Observation(snapshots=()), busy(), busy(search=SEARCH)])
@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_address_of_the_page_is_there_as_a_whole(seen: Observation, width: int) -> None:
    address = f"http://{'lab.example.org'}:43131/#token={'x' * 32}"
    interaction = Interaction(About("a run", addresses={"web": address}), Requests(), threading.Event())
    interaction.see(seen)
    rows = [row.plain for row in interaction.rows(["said later"] * 20, 0.004, width, 15)]
    assert address in "".join(rows)


def test_the_end_of_a_long_note_is_seen_while_it_is_typed() -> None:
    row = draw(busy(), 60, 15, "m", *"a note that is longer than the row, 検, and its end")[-1]
    assert row.rstrip().endswith("検, and its end▏ (Enter; Esc: do not)")


def test_figures_keep_their_columns() -> None:
    quick, slow = (draw(Observation(snapshots=[snapshot(echo=[value])]), 80, 24) for value in (0.0001, 0.123))
    (one,), (other,) = starting(quick, "ECHO"), starting(slow, "ECHO")
    assert [one.index(name) for name in ("p50", "p95", "p99", "█")] == [
        other.index(name) for name in ("p50", "p95", "p99", "█")
    ]


def test_limits_show_how_far_they_are() -> None:
    rows = starting(draw(busy(), 80, 24), "LIMIT")
    assert rows[0].rstrip().endswith(" 75%")
    assert "█░" in rows[0]
    assert rows[1].rstrip().endswith("judged at the end")


def test_a_search_shows_its_trials_and_the_interval_that_narrows() -> None:
    rows = draw(busy(search=SEARCH), 100, 30)
    assert starting(rows, "SEARCH")[0].startswith("SEARCH    about 43 users  between 24 and 50  response.p95 < 2s")
    assert starting(rows, "TRIAL 5")[0].startswith("TRIAL 5   44 users: the last trial there does not count")
    at = next(number for number, row in enumerate(rows) if row.startswith("TRIALS"))
    axis, newest, note, *others = (row.rstrip() for row in rows[at : at + 6])
    assert newest.split()[:2] == ["4", "44"]
    assert "in doubt" in newest
    assert note.strip() == "the hypervisor took CPU time"
    assert newest.index("?") == axis.index("▼"), "the load that is tried again is that of the last trial"
    assert others[0].split()[:5] == ["3", "48", "2.20", "s", "110%"]
    widths = [len(row[row.index("met") if "met" in row else row.index("missed") :].split()[-1]) for row in others]
    assert widths == sorted(widths), "the interval after each trial, the newest first"
    assert "○" in others[0]
    assert "●" in others[2]


def test_a_search_without_a_trial_says_what_it_begins_with() -> None:
    state = SearchState(
        objective=["echo.p95 < 1s"],
        load="rate",
        next=SearchChoice(load=30.0, purpose="bracket", because="the first load"),
    )
    rows = draw(busy(search=state), 80, 24)
    assert starting(rows, "TRIAL 1")[0].rstrip() == "TRIAL 1   30.0/s: the first load"
    assert starting(rows, "SEARCH")[0].startswith("SEARCH    nothing known yet")


def test_the_run_of_a_series_is_named() -> None:
    series = RunOfSeries(what="pair", number=3, of=12, name="base", discarded=1)
    assert draw(busy(series=series), 80, 24)[0].startswith("a run  pair 3 of 12 (base), 1 did not count ")


def test_before_the_first_snapshot_the_view_says_that_it_starts() -> None:
    rows = draw(Observation(snapshots=()), 80, 24)
    assert rows[0].startswith("a run ")
    assert rows[0].endswith("starting  0:00")


def test_keys_ask_the_run_for_what_they_say() -> None:
    requests, stop = Requests(), threading.Event()
    interaction = Interaction(About("a run"), requests, stop)
    interaction.see(busy())
    for key in ("p", "m", "x", "\x7f", "y", "\r", "s", "right", "left", "left", "1", "2", "\r", "escape"):
        interaction.press(key)
    orders, marks = requests.take_orders(), requests.take_marks()
    assert [mark.note for mark in marks] == ["starts are held", "y"]
    assert [order.hold_starts for order in orders if order.hold_starts is not None] == [True]
    watched = [list(order.watch.users) for order in orders if order.watch]
    assert watched == [[0], [1], [0], [14], [12], []]
    assert not stop.is_set()
    interaction.press("q")
    assert stop.is_set()


def test_ctrl_z_explains_itself() -> None:
    assert draw(busy(), 80, 24, "\x1a")[-1].startswith("a run cannot be suspended")
