"""The headline: one sentence that claims only what was measured."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.analysis.law import apply_law
from cuesta.analysis.summary import LocatedDoubt, Summary, summarise
from cuesta.engine.folder import change_run
from cuesta.figures.durations import Distribution
from cuesta.records.rows import TimeSums
from cuesta.report.headline import big_figures, headline, unusual_section
from cuesta.report.law import describe_law_terms
from cuesta.report.model import Remark
from cuesta.report.run_report import text
from cuesta.report.several import build_page
from cuesta.report.validity import join_advice, list_doubts
from tests.report import made_up
from tests.run_folder import Row, RunFolder

USERS = (2, 4, 8)


def swept(path: Path, *, limits: list[str], busy: int | None = None) -> Summary:
    """A sweep over three numbers of users; the response doubles from step to step, and step `busy` is doubtful."""

    def responses(step: int, _: int, second: int) -> list[float]:
        return [0.1 * 2**step] * (step + 1)

    def trouble(row: Row) -> Row:
        return row | {"cpu": 0.95} if row["step"] == busy else row

    folder = RunFolder(path, users=USERS, measure=30, responses=responses, edit=trouble, limits=limits)
    return summarise(folder.write())


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("response.p90 < 300ms", "limit kept at 4 users, crossed at 8"),
        ("response.p90 < 1s", "limit kept up to 8 users, the most tried"),
        ("response.p90 < 10ms", "limit crossed at 2 users already, the fewest tried"),
        ("echo.p99 < 10ms", "not measured at 2, 4 and 8 users"),
    ],
)
def test_the_headline_of_a_sweep_names_the_number_of_users(tmp_path: Path, limit: str, message: str) -> None:
    assert headline(swept(tmp_path / "run", limits=[limit])) == (
        f"2 to 8 users at the built-in host (host:): {message}; valid"
    )


def test_the_headline_of_a_sweep_names_the_limit_that_was_crossed(tmp_path: Path) -> None:
    limits = ["response.p90 < 300ms", "errors.rate < 1%"]
    message = headline(swept(tmp_path / "run", limits=limits))
    assert "limit kept at 4 users, crossed at 8 (response.p90 < 300ms); valid" in message
    message = headline(swept(tmp_path / "low", limits=["response.p90 < 10ms", "errors.rate < 1%"]))
    assert "already, the fewest tried (response.p90 < 10ms)" in message


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ("response.p90 < 1s", "limit kept in all 3 steps"),
        ("response.p90 < 300ms", "limit kept in step 1, 2, crossed in step 3"),
        ("response.p90 < 10ms", "limit crossed in all 3 steps"),
    ],
)
def test_steps_that_differ_by_more_than_users_have_their_own_numbers(tmp_path: Path, limit: str, message: str) -> None:
    folder = RunFolder(
        tmp_path / "run", users=(8, 2, 4), responses=lambda step, *_: [0.1 * 2**step] * 20, limits=[limit]
    )
    assert message in headline(summarise(folder.write()))


def test_the_headline_of_an_incomplete_run_says_how_it_ended(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run", ended="interrupted").write())
    assert "; valid; interrupted; no limit was set" in headline(summary)


def test_a_doubtful_step_neither_keeps_nor_crosses_a_limit(tmp_path: Path) -> None:
    message = headline(swept(tmp_path / "run", limits=["response.p90 < 300ms"], busy=2))
    assert "limit kept up to 4 users, in doubt at 8 users; INVALID" in message
    assert "crossed" not in message
    assert "the most tried" not in message


def test_a_sweep_without_limits_says_how_response_grew(tmp_path: Path) -> None:
    assert "median response 100 ms to 400 ms; valid; no limit was set" in headline(swept(tmp_path / "run", limits=[]))


def test_a_sweep_with_constant_response_states_it_once(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=USERS, responses=lambda *_: [0.1] * 20).write()
    assert "median response 100 ms at both ends" in headline(summarise(folder))


def test_a_gap_in_the_counts_is_reported_once_on_the_first_screen(tmp_path: Path) -> None:
    summary = summarise(made_up.without_limits(tmp_path / "run"))
    (step,) = summary.steps
    assert step.law
    gap = replace(summary, steps=[replace(step, law=replace(step.law, error=0.5, chance=0.01))])
    assert [text(each, colour=False).count("left uncounted") for each in (summary, gap)] == [1, 1]
    assert "N/X" not in text(summary, colour=False, verbose=True)
    assert "users ÷ throughput − thinking − typing =" in " ".join(text(summary, colour=False, verbose=True).split())
    assert "INCONSISTENT" in text(gap, colour=False)
    assert "\nLAW" not in text(gap, colour=False)


def test_without_keys_there_is_no_delay(tmp_path: Path) -> None:
    summary = summarise(made_up.without_limits(tmp_path / "run"))
    (step,) = summary.steps
    silent = replace(summary, steps=[replace(step, lateness=Distribution())])
    assert "DRIVER     delay no key was sent; CPU" in text(silent, colour=False)
    assert "delay (could be sent → sent) no key was sent" in text(silent, colour=False, verbose=True)


def test_few_values_are_summarized_by_the_longest_not_p99(tmp_path: Path) -> None:
    message = headline(summarise(made_up.good(tmp_path / "run")))
    assert "an answer takes 100 ms (the longest of 60: 200 ms)" in message
    many = RunFolder(tmp_path / "many", responses=lambda *_: [0.1] * 40).write()
    assert "an answer takes 100 ms (p99 100 ms)" in headline(summarise(many))


def test_the_headline_omits_unmeasured_figures(tmp_path: Path) -> None:
    message = headline(summarise(RunFolder(tmp_path / "run", agents=0).write()))
    assert "nothing was measured" in message
    assert "valid;" not in message


def test_a_limit_without_a_value_is_not_called_crossed(tmp_path: Path) -> None:
    message = headline(summarise(RunFolder(tmp_path / "run", limits=["echo.max < 50ms"]).write()))
    assert "limit not measured: echo.max < 50ms" in message
    assert "crossed" not in message


def test_a_healthy_run_has_nothing_unusual(tmp_path: Path) -> None:
    assert list(unusual_section(summarise(RunFolder(tmp_path / "run").write()))) == []
    (section,) = unusual_section(summarise(made_up.bad(tmp_path / "bad")))
    message = [part.text for part in section.parts if isinstance(part, Remark)]
    assert message[0] == "180 errors: timeout 120, reset 60: timeout means no answer came in time"


@pytest.mark.parametrize("make", [made_up.good, made_up.bad, made_up.sweep])
def test_big_figures_are_few_and_have_their_meaning(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    figures = list(big_figures(summarise(make(tmp_path / "run"))))
    assert 4 <= len(figures) <= 6
    assert all(figure.meaning for figure in figures)


def test_users_who_wait_in_vain_are_counted(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    users = folder / "agent-0" / "users.jsonl"
    rows = [json.loads(row) for row in users.read_text().splitlines()]
    rows[0] |= {"waits": "prompt", "waited": 8.0}
    rows[1] |= {"waits": "answer", "waited": 0.1}
    users.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for tape, kind in (
        ("Type", "Wait"),
        ('Set KeyRate 10cps\nWait+Screen /x/\nType "a"\nThink 1s\nWait+Prompt', "Wait+Screen"),
        ("Wait+Screen /x/\nWait+Prompt", "Wait"),
        ('Enter\nForever\n  Wait+Prompt\n  Type "a"\n  Wait+Screen /x/\nEnd', "Wait+Prompt"),
    ):
        (folder / "tapes").mkdir(exist_ok=True)
        (folder / "tapes" / "a.tape").write_text(tape + "\n")
        (section,) = unusual_section(summarise(folder))
        message = [part.text for part in section.parts if isinstance(part, Remark)]
        assert message == [f"1 user had waited up to 8.00 s at a {kind} of the tape with no key before it, in vain"]


def test_a_negative_term_stands_in_brackets() -> None:
    terms = apply_law(4, 10.0, 20, TimeSums(think=-0.001, keying=0.2, response=39.8, response_from_sent=39.8))
    assert terms
    first = describe_law_terms(terms)
    assert "− (−50.0 µs) − 10.0 ms =" in first


def test_advice_is_given_once(tmp_path: Path) -> None:
    summary = summarise(made_up.bad(tmp_path / "bad"))
    first, *others = summary.doubts
    again = LocatedDoubt(1, first.doubt)
    doubts = list_doubts(replace(summary, doubts=[first, again, *others]))
    assert doubts[1] == (f"step 2: {doubts[0][0]}", "")
    assert join_advice(doubts[1]) == doubts[1][0]
    assert all(advice for _, advice in [doubts[0], *doubts[2:]])


def test_hosts_that_were_trusted_without_a_certificate_are_named_and_make_no_run_invalid(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    targets = ["ttyd+wss://lab.invalid:443/a?insecure", "tn3270s://host.invalid:992"]
    change_run(folder, {"host": {"builtin": False, "targets": targets}})
    summary = summarise(folder)
    notice = "ttyd+wss://lab.invalid:443/a: the host's certificate was not checked"
    assert summary.valid
    assert (text(summary).count(notice), text(summary).count("not checked")) == (1, 1)
    assert notice in str(build_page({"run": summary}, tmp_path)).replace("&#39;", "'")
    assert summary.json()["unchecked_hosts"] == ["ttyd+wss://lab.invalid:443/a"]
