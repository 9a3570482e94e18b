"""The summary at the end of a run."""

import re
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from urllib.parse import quote

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.analysis.summary import summarise
from cuesta.report.render.text import SCREEN
from cuesta.report.run_report import text
from tests.report.made_up import bad, batching, good, search, sweep
from tests.run_folder import RunFolder, edit_run


def write_text(folder: Path, *, verbose: bool = False) -> str:
    return text(summarise(folder), colour=False, verbose=verbose).replace(str(folder), "RUN")


MAKES = pytest.mark.parametrize("make", [good, bad, sweep, search, batching])
BOTH = pytest.mark.parametrize("verbose", [False, True], ids=["brief", "verbose"])


@BOTH
@MAKES
def test_the_printed_text(
    tmp_path: Path, make: Callable[[Path], Path], verbose: bool, snapshot: SnapshotAssertion
) -> None:
    assert write_text(make(tmp_path / "run"), verbose=verbose) == snapshot


ORDER = (
    *(
        "VALIDITY",
        "SEARCH",
        "LIMITS",
        "NOTICE",
        "BATCHING",
        "SWEEP",
        "TABLE",
        "CAPACITY",
        "RESPONSE",
        "COURSE OF THE RUN",
        "THROUGHPUT",
        "LAW",
        "PUBLISHED",
    ),
    *("HOST", "WIRE", "DRIVER", "USERS", "RUN", "RUN FOLDER", "LIMITED BY", "INVALID"),
)


@BOTH
@MAKES
def test_the_order_is_fixed_and_rows_are_short(tmp_path: Path, make: Callable[[Path], Path], verbose: bool) -> None:
    output = write_text(make(tmp_path / "run"), verbose=verbose)
    titles = re.findall(r"^([A-Z]+(?: FOLDER| BY)?)(?= |$)", output, re.MULTILINE)
    assert titles == [title for title in ORDER if title in titles]
    of_a_load = {"RESPONSE", "THROUGHPUT", "HOST", "DRIVER"}
    assert {"VALIDITY", "RUN FOLDER", "LIMITED BY"} | (of_a_load if verbose else set()) <= set(titles)
    assert max(map(len, output.splitlines())) <= 80
    assert not any(row.endswith(" ") for row in output.splitlines())


@BOTH
@MAKES
def test_rows_fit_a_narrow_terminal(
    tmp_path: Path, make: Callable[[Path], Path], verbose: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "run")
    wide = write_text(folder, verbose=verbose)
    monkeypatch.setenv("COLUMNS", "40")
    output = write_text(folder, verbose=verbose)
    assert [row for row in output.splitlines() if len(row) > 40 and len(row.split()) > 1] == []
    assert output.startswith("VALIDITY\n  "), "titles stand above their rows"
    always = wide if verbose else wide[wide.index("LIMITED BY") :]
    assert set(re.findall(r"[\d.]+ m?s", always)) <= set(re.findall(r"[\d.]+ m?s", output)), "no figure is lost"


def test_a_terminal_of_one_column_ends_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = RunFolder(tmp_path / "run").write()
    monkeypatch.setenv("COLUMNS", "1")
    narrowest = write_text(folder)
    monkeypatch.setenv("COLUMNS", "20")
    assert narrowest == write_text(folder)


def test_the_first_screen_of_a_healthy_run_has_the_answer(tmp_path: Path) -> None:
    keys = [("interactive/keys/echo", [0.002] * 2000), ("interactive/keys/echo_from_sent", [0.002] * 2000)]
    output = write_text(RunFolder(tmp_path / "run", histograms=keys).write()).splitlines()
    assert len(output) <= SCREEN
    assert output[-2].startswith("4 users at the built-in host (host:): a key echoes in 2.00 ms, an answer takes")
    assert output[-1].endswith("valid; no limit was set")
    assert {"LAW", "HOST", "DRIVER"} <= {row.split(" ")[0] for row in output}, "there is room for them"


def list_names(number: int) -> list[str]:
    """Transactions of a tape, whose order is not that of their names."""
    return ["a, b/c", *(f"{(3 * place) % (number - 1):02} of the script" for place in range(number - 1))]


def with_classes(folder: Path, number: int) -> Path:
    names = list_names(number)
    times = [
        (f"interactive/{quote(name)}/{series}", [0.002 * (place + 1)] * 2000)
        for place, name in enumerate(names[1:])
        for series in ("response", "response_from_sent", "first_response")
    ]
    keys = [("interactive/keys/echo", [0.002] * 2000), ("interactive/keys/echo_from_sent", [0.002] * 2000)]
    RunFolder(folder, histograms=[*keys, *times]).write()
    with edit_run(folder) as run:
        run["transactions"] = {"interactive": names}
    return folder


def first_cells(output: str) -> list[str]:
    """The labels of the first screen's table of times."""
    rows = output.splitlines()
    (head,) = [number for number, row in enumerate(rows) if row.split()[:1] == ["count"]]
    return [re.split(r" {2,}", row.strip())[0] for row in takewhile(lambda row: row[0] == " ", rows[head + 1 :])]


def test_eight_classes_stand_in_the_order_of_the_tape_on_one_screen(tmp_path: Path) -> None:
    output = write_text(with_classes(tmp_path / "run", 8))
    assert len(output.splitlines()) <= SCREEN
    assert first_cells(output) == ["echo", "answer", *list_names(8), "* fewer than 10 values"]
    assert re.search(r"04 of the script +2,000 +14\.0 ms +14\.0 ms", output)


def test_classes_beyond_the_screen_are_counted(tmp_path: Path) -> None:
    folder = with_classes(tmp_path / "run", 20)
    output = write_text(folder)
    *shown, more, _ = first_cells(output)
    assert len(output.splitlines()) == SCREEN
    assert more == f"and {22 - len(shown)} more: --verbose"
    assert write_text(folder, verbose=True).count(" of the script\n") == 19


def test_a_record_without_the_order_of_the_tape_has_classes_by_name(tmp_path: Path) -> None:
    folder = with_classes(tmp_path / "run", 5)
    with edit_run(folder) as run:
        del run["transactions"]
    assert first_cells(write_text(folder))[2:-1] == sorted(list_names(5))


def test_times_are_since_sent_where_the_headline_quotes_those(tmp_path: Path) -> None:
    late = [("interactive/keys/echo", [0.003] * 2000), ("interactive/keys/echo_from_sent", [0.002] * 2000)]
    lateness = [("interactive/keys/lateness", [0.001] * 2000)]
    output = write_text(RunFolder(tmp_path / "run", histograms=[*late, *lateness]).write())
    assert "a key echoes in 2.00 ms since sent" in " ".join(output.splitlines()[-2:])
    assert re.search(r"echo since sent +2,000 +2\.00 ms", output)


@BOTH
def test_what_makes_a_run_invalid_comes_last(tmp_path: Path, verbose: bool) -> None:
    output = write_text(bad(tmp_path / "run"), verbose=verbose)
    assert output.startswith("VALIDITY   INVALID: do not rely on the figures below\n")
    reasons = output[output.index("\nINVALID ") :]
    assert reasons.count("           - ") + reasons.count("INVALID    - ") == 4
    assert "LIMITED BY" not in reasons
    assert "INVALID: do not rely on these figures" in " ".join(output.splitlines()[-2:])


def test_a_small_sweep_has_room_for_its_last_step(tmp_path: Path) -> None:
    small = write_text(RunFolder(tmp_path / "small", users=(2, 4)).write())
    assert "\nSWEEP " in small
    assert "\nRESPONSE   4 users" in small
    large = write_text(RunFolder(tmp_path / "large", users=range(1, 15)).write())
    assert "\nSWEEP " in large
    assert "\nRESPONSE " not in large


def test_both_responses_stand_together_where_they_differ(tmp_path: Path) -> None:
    """If no key was late, the first screen shows only one of them."""
    alike = RunFolder(tmp_path / "run", responses=lambda *_: [0.1] * 20).write()
    assert "since sent   " not in write_text(alike)
    rows = write_text(alike, verbose=True).splitlines()
    due = next(number for number, row in enumerate(rows) if row.lstrip().startswith("answer "))
    assert re.search(r"100 ms .* 100 ms", rows[due])
    assert re.search(r"since sent .* 99\.0 ms .* 99\.0 ms", rows[due + 1])


def test_every_percentile_of_few_values_is_marked(tmp_path: Path) -> None:
    folder = good(tmp_path / "run")
    brief = next(row for row in write_text(folder).splitlines() if row.lstrip().startswith("answer "))
    assert re.search(r" 60 +100 ms +200 ms\* +200 ms\* +200 ms$", brief)
    output = write_text(folder, verbose=True)
    answer = next(row for row in output.splitlines() if row.lstrip().startswith("answer "))
    assert re.search(r" 60 +100 ms +200 ms\* +200 ms\* +200 ms\* +200 ms\* +200 ms$", answer)
    assert "*" not in next(row for row in output.splitlines() if " echo " in row and "12,000" in row)
    assert "* rests on fewer than 10 values" in output


def test_the_phases_of_opening_a_line_are_shown_where_there_are_any(tmp_path: Path) -> None:
    opened = [("interactive/line/connect", [0.02] * 4), ("interactive/line/login", [0.6] * 4)]
    output = write_text(RunFolder(tmp_path / "run", histograms=opened).write(), verbose=True)
    assert "Connecting (ramp-up included)" in output
    assert re.search(r"connecting +4 +20\.0 ms", output)
    assert re.search(r"logging in +4 +600 ms", output)
    assert "negotiating" not in output
    assert "ramp-up" not in write_text(RunFolder(tmp_path / "other").write(), verbose=True)


def test_programs_that_users_started_are_named(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    with edit_run(folder) as run:
        run["steps"][0]["group"][0]["target"] = "pty:bash \x1b --norc"
    assert "pty:bash � --norc: started by the driver, for each of 4 users" in write_text(folder)
    assert "started by the driver" not in write_text(RunFolder(tmp_path / "other").write())


def test_colour_is_for_terminals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = summarise(good(tmp_path / "run"))
    assert "\x1b[" not in text(summary)
    assert "\x1b[1;32mVALID" in text(summary, colour=True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in text(summary)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in text(summary)


def test_an_empty_run_says_so(tmp_path: Path) -> None:
    output = write_text(RunFolder(tmp_path / "run", agents=0).write())
    assert "nothing was measured" in output
    assert "the record is cut off: no agent has recorded anything" in output


def test_kept_limits_beyond_the_sixth_are_counted(tmp_path: Path) -> None:
    limits = [f"response.p{percent} < 9s" for percent in range(50, 58)]
    folder = RunFolder(tmp_path / "run", limits=limits).write()
    assert "and 2 more kept" in write_text(folder)
    assert "more kept" not in write_text(folder, verbose=True)
    assert write_text(folder, verbose=True).count("< 9s") == len(limits)


def test_a_sweep_lists_the_kept_limits_of_the_steps_with_the_most_users(tmp_path: Path) -> None:
    limits = [f"response.p{percent} < 9s" for percent in (50, 60, 70)]
    output = write_text(RunFolder(tmp_path / "run", users=(2, 4, 8), limits=limits).write())
    assert "step 1: response" not in output
    assert (output.count("step 2: response"), output.count("step 3: response")) == (3, 3)
    assert "and 3 more kept" in output


def test_an_answer_without_a_first_sign_has_none(tmp_path: Path) -> None:
    """At 3270s nothing echoes, and a wait may be met before anything comes."""
    own = ("interactive/stamped/own", [0.000_02] * 40)
    folder = RunFolder(tmp_path / "run", responses=lambda *_: [1e-9, 1e-9], delay=lambda _: 0.0, histograms=[own])
    output = write_text(folder.write(), verbose=True)
    (signs,) = [row for row in output.splitlines() if "first sign" in row and "of each" not in row]
    assert signs.count("none") == 6
    assert "of each first sign of an answer" in " ".join(output.split())
    assert "of each echo" not in output
