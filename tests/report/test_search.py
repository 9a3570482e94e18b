"""The report of a search: its first sentence, the line for each trial, and what a page draws."""

import json
from pathlib import Path

import pytest

from cuesta.analysis.summary import Summary, summarise
from cuesta.figures.search import SearchFigures
from cuesta.report.headline import headline
from cuesta.report.plots.against_load import plot_trials
from cuesta.report.run_report import text
from cuesta.report.search import list_notes, section, write_progress
from tests.report import made_up


def a_search(path: Path, loads: tuple[int, ...] = (), **more: object) -> Summary:
    return summarise(made_up.search(path / "run", loads, **more))  # type: ignore[arg-type]


def test_the_first_sentence_is_the_answer(tmp_path: Path) -> None:
    assert headline(a_search(tmp_path)) == (
        "about 30 users at the built-in host (host:) meet response.p95 < 2s (90 % interval: 29 to 32 users); "
        "28 users confirmed by 5 trials; the host sets the limit"
    )


@pytest.mark.parametrize(
    ("loads", "more", "message"),
    [
        (
            (4, 8, 16),
            {},
            "at least 16 users at the built-in host (host:) meet response.p95 < 2s; none was confirmed; "
            "the search was ended early",
        ),
        (
            (4, 8, 16, *[16] * 5),
            {"highest": 16, "doubtful": ()},
            "at least 16 users at the built-in host (host:) meet response.p95 < 2s; 16 users confirmed by 5 trials; "
            "the host's limit is higher: no more was tried",
        ),
        (
            (64,),
            {"lowest": 64, "start": 64},
            "no load that was tried at the built-in host (host:) met response.p95 < 2s; even the lowest load misses it",
        ),
        (
            (4, 8, 16, 32, 32, 32),
            {"doubtful": (3, 4, 5)},
            "at least 16 users at the built-in host (host:) meet response.p95 < 2s; none was confirmed; "
            "the search was ended early",
        ),
        (
            (4, 4, 4),
            {"lowest": 4, "doubtful": (0, 1, 2)},
            "no load that was tried at the built-in host (host:) met response.p95 < 2s; "
            "NOT the host's limit: the driver could do no more",
        ),
    ],
)
def test_the_first_sentence_claims_no_more_than_was_measured(
    tmp_path: Path, loads: tuple[int, ...], more: dict[str, object], message: str
) -> None:
    assert headline(a_search(tmp_path, loads, **more)) == message


@pytest.mark.parametrize(
    ("users_are_few", "message", "limited_by"),
    [
        (True, "at least 19.9/s at ", "the number of users, not the host, at 21.1/s: "),
        (False, "about 19.9/s at ", "not known: a response takes "),
    ],
)
def test_a_rate_that_users_are_too_few_for_is_not_called_the_hosts_limit(
    tmp_path: Path, users_are_few: bool, message: str, limited_by: str
) -> None:
    summary = summarise(made_up.rate_search(tmp_path / "run", made_up.RATES, users_are_few))
    assert headline(summary).startswith(message)
    assert ("NOT the host's limit: users were too few" in headline(summary)) == users_are_few
    assert summary.json()["limited_by"].startswith(limited_by)


def test_each_trial_has_a_line(tmp_path: Path) -> None:
    lines = [write_progress(a_search(tmp_path / str(number), made_up.TRIALS[:number])) for number in (1, 5, 9, 15)]
    assert lines == [
        "trial  1     4 users  response.p95 214 ms*  met  next 8 users: 4 users met the objective: twice as many",
        "trial  5    64 users  response.p95 31.7 s  in doubt: the driver was busy: 95.0 % of its cores (allowed "
        "80.0 %); 16.7 % of the transactions failed (allowed 1.0 %): reset  limit 24 (16–37)  next 64 users: the last "
        "trial there does not count",
        "trial  9    32 users  response.p95 2.17 s*  missed  limit 30 (28–33)  next 30 users: where the limit "
        "seems to be, 30 users",
        "trial 15    28 users  response.p95 1.61 s*  met  limit 30 (29–32)  ends: 5 trials confirmed 28 users",
    ]


def test_a_search_that_ended_early_says_how_to_go_on(tmp_path: Path) -> None:
    summary = a_search(tmp_path, (4, 8, 16))
    message = " ".join(text(summary, colour=False).split())
    assert f"to go on: cuesta search --resume {summary.recorded.folder}" in message
    assert "to go on" not in text(a_search(tmp_path / "whole"), colour=False)


def test_trials_that_were_cut_off_are_named(tmp_path: Path) -> None:
    (found,) = [summary.search for summary in [a_search(tmp_path)] if summary.search]
    rows = found.replay.rows
    assert list(list_notes([rows[0], *rows[3:4]])) == ["trial 2, 3: ended before it was measured"]


def test_other_runs_have_no_section_and_no_line(tmp_path: Path) -> None:
    summary = summarise(made_up.sweep(tmp_path / "run"))
    assert list(section(summary)) == []
    assert write_progress(summary) == ""
    assert summary.json()["search"] is None


def test_trials_in_doubt_do_not_make_a_search_invalid(tmp_path: Path) -> None:
    summary = a_search(tmp_path)
    assert [doubted.step for doubted in summary.doubts] == [4]
    assert summary.valid
    assert summary.json()["invalid_because"] == []


def test_the_json_has_what_was_found(tmp_path: Path) -> None:
    document = json.loads(json.dumps(a_search(tmp_path).json()["search"]))
    assert list(document) == list(SearchFigures.__dataclass_fields__)
    assert {name: document[name] for name in ("users", "interval", "certified", "breach", "trials", "limited_by")} == {
        "users": 30,
        "interval": [29, 32],
        "certified": 28,
        "breach": 64,
        "trials": 15,
        "limited_by": "host",
    }
    assert '"users": 30,' in json.dumps(document)


def test_the_page_draws_trials_limit_and_interval(tmp_path: Path) -> None:
    (plot,) = plot_trials(summary := a_search(tmp_path), summary.search)  # type: ignore[arg-type]
    assert plot.title == "response.p95 against users"
    shade, _, objective, dots = plot.spec["layer"]
    assert (shade["encoding"]["x"]["datum"], shade["encoding"]["x2"]["datum"]) == (29, 32)
    assert objective["data"]["values"] == [{"y": 2.0}]
    sides = [point["s"] for point in dots["data"]["values"]]
    assert (len(sides), sides.count("met the objective"), sides.count("does not count")) == (15, 11, 1)
