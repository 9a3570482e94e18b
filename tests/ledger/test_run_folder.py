"""Opening run folders: whole, cut off, and of other versions."""

import json
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta._native import Histogram
from cuesta.errors import InputError
from cuesta.ledger import Recorded, RunReader, Tag, open_run, raw_files
from tests.hdr import encode, highest_equivalent
from tests.report.made_up import host_row
from tests.run_folder import CLOCK, NANO, RunFolder, change_run, rows, write_rows

DURATIONS = st.lists(st.integers(1, 3600 * NANO).map(lambda nanos: nanos / NANO), min_size=1, max_size=60)


def test_a_run_is_read_whole(tmp_path: Path) -> None:
    run = open_run(RunFolder(tmp_path / "run", users=(4,), agents=2, measure=3).write())
    assert run.damage == []
    assert [agent.number for agent in run.agents] == [0, 1]
    assert run.steps[0].settled == 2.0
    assert len(run.agents[0].intervals) == 5
    assert [user.user for agent in run.agents for user in agent.users] == [0, 2, 1, 3]
    assert run.agents[1].ending == {"ended": "completed", "reason": None, "rss_per_user": 2048}


def test_only_the_measurement_interval_is_added_up(tmp_path: Path) -> None:
    run = open_run(RunFolder(tmp_path / "run", agents=2, measure=3).write())
    responses = {key: h for key, h in run.measured.items() if key[1].series == "response"}
    tag = Tag(0, "interactive", "a, b/c", "response")
    assert {key: h.count for key, h in responses.items()} == {(0, tag): 6, (1, tag): 6}
    assert max(h.max for h in responses.values()) < 1.0  # 9 s while settling


@given(st.lists(DURATIONS, min_size=1, max_size=6))
def test_adding_histograms_pools_their_values(parts: list[list[float]]) -> None:
    merged = Histogram.sum([Histogram.decode(encode(part)) for part in parts])
    pooled = Histogram.decode(encode(duration for part in parts for duration in part))
    assert merged is not None
    assert merged.buckets() == pooled.buckets()


@given(DURATIONS, st.integers(1, 100))
def test_quantiles_are_those_of_the_sorted_values(durations: list[float], percent: int) -> None:
    exact = sorted(durations)[-(-percent * len(durations) // 100) - 1]
    expected = highest_equivalent(round(exact * NANO)) / NANO
    assert Histogram.decode(encode(durations)).quantile(percent / 100) == pytest.approx(expected, rel=1e-12)


def test_adding_does_not_change_the_parts() -> None:
    parts = [Histogram.decode(encode([0.1])), Histogram.decode(encode([0.2]))]
    Histogram.sum(parts)
    assert [part.count for part in parts] == [1, 1]


def test_names_are_decoded() -> None:
    tag = Tag.parse("2/night%20shift/50%25%2Ca%2Fb/response", first_step=1)
    assert tag == Tag(3, "night shift", "50%,a/b", "response")


@pytest.mark.parametrize("name", ["series.jsonl", "histograms.hlog", "users.jsonl", "timeline.json", "agent.json"])
def test_a_file_cut_at_any_byte_is_read_up_to_there(tmp_path: Path, name: str) -> None:
    path = RunFolder(tmp_path / "run", measure=2).write() / "agent-0" / name
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        run = open_run(tmp_path / "run")
        ends_within_a_row = not whole[:size].endswith(b"\n") and size
        if ends_within_a_row and name != "agent.json":
            complaint = [text for text in run.damage if text.startswith(f"agent-0/{name}")]
            assert complaint or parses(whole[:size]), size
        if name == "series.jsonl":
            assert len(run.agents[0].intervals) == whole[:size].count(b"\n"), size


def parses(text: bytes) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def test_an_unreadable_row_is_left_out_and_reported(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=2).write()
    series, log = folder / "agent-0" / "series.jsonl", folder / "agent-0" / "histograms.hlog"
    series.write_text(series.read_text().replace('"transactions"', '"trans"', 1))
    log.write_text(log.read_text() + "Tag=0/a/b/response,3.0,1.0,0.1,HISTFAAA!!\n" + "Tag=oops\n")
    run = open_run(folder)
    assert len(run.agents[0].intervals) == 3
    assert run.damage == [
        "agent-0/series.jsonl: 1 row cannot be read and is left out",
        "agent-0/histograms.hlog: 2 rows cannot be read and are left out",
    ]


@pytest.mark.parametrize("name", ["timeline.json", "agent.json"])
@pytest.mark.parametrize("content", ["[]", "null", '"text"'])
def test_what_is_no_object_is_reported_as_damage(tmp_path: Path, name: str, content: str) -> None:
    folder = RunFolder(tmp_path).write()
    (folder / "agent-0" / name).write_text(content)
    assert f"agent-0/{name}: is no JSON object" in open_run(folder).damage


def test_later_segments_continue_the_steps_and_the_time(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(4, 4), measure=3).write()
    later = RunFolder(tmp_path / "later", measure=3).write()
    (later / "agent-0").rename(folder / "agent-9")
    segment = folder / "segment-2"
    segment.mkdir()
    (folder / "agent-9").rename(segment / "agent-0")
    timeline = segment / "agent-0" / "timeline.json"
    timeline.write_text(timeline.read_text().replace(str(CLOCK), str(CLOCK + 60 * NANO)))
    (segment / "host").mkdir()
    write_rows(segment / "host" / "series.jsonl", [host_row(61)])

    run = open_run(folder)
    assert sorted(run.steps) == [0, 1, 2]
    assert run.steps[2].settled == 62.0
    assert {tag.step for _, tag in run.measured} == {0, 1, 2}
    assert run.agents[1].intervals[0].step == 2
    assert run.agents[1].intervals[0].start == 60.0
    assert run.agents[1].users[0].step == 2
    assert run.host[0].end == 62.0


def test_a_row_may_exceed_its_step_by_a_rounding_error(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    log = folder / "agent-0" / "histograms.hlog"
    log.write_text("".join(rows(0, 2, [("g/t/response", [0.1])])).replace(",2.000,1.000", ",1.9995,3.0007"))
    assert [h.count for h in open_run(folder).measured.values()] == [1]
    log.write_text(log.read_text().replace("3.0007", "3.003"))
    assert not open_run(folder).measured


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run").write()
    change_run(folder, format=2, cuesta="9.1")
    with pytest.raises(InputError, match=re.escape("is of format 2, and this cuesta reads up to 1")) as refused:
        open_run(folder)
    assert "9.1" in str(refused.value.remedy)


def test_a_run_that_never_began_has_nothing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=0).write()
    run = open_run(folder)
    assert run.agents == []
    assert run.damage == ["no agent has recorded anything"]


def test_an_emptied_log_of_histograms_is_reported(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    (folder / "agent-0" / "histograms.hlog").write_bytes(b"")
    assert open_run(folder).damage == ["agent-0/histograms.hlog: is empty"]


def test_an_agent_without_records_is_reported_missing(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    change_run(folder, agents=2)
    run = open_run(folder)
    assert run.damage == ["agent-1: has recorded nothing"]
    assert [agent.ending is None for agent in run.agents] == [False, True]


@pytest.mark.parametrize(
    ("ended", "steps", "damage"),
    [
        ("completed", [1], ["segment-1/agent-0: has recorded nothing"]),
        ("interrupted", [1], []),
        ("completed", [], []),  # a search that went on and ended before a trial
    ],
)
def test_a_segment_that_never_began_is_reported_missing_if_it_should_have_begun(
    tmp_path: Path, ended: str, steps: list[int], damage: list[str]
) -> None:
    folder = RunFolder(tmp_path / "run", measure=3, ended=ended).write()
    change_run(folder, segments=[{"folder": ".", "steps": [0]}, {"folder": "segment-1", "steps": steps}])
    assert open_run(folder).damage == damage


def test_time_counts_from_the_earliest_recorded_start_of_an_agent(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", agents=2, measure=3).write()
    (folder / "agent-0" / "timeline.json").unlink()
    assert [agent.origin.time for agent in open_run(folder).agents] == [0.0, 0.0]


def test_raw_files_exclude_derived_files(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", measure=3).write()
    for name in ("report.html", "summary.json", ".report.html.1.part"):
        (folder / name).touch()
    names = [str(path.relative_to(folder)) for path in raw_files(folder)]
    assert "agent-0/histograms.hlog" in names
    assert "run.json" in names
    assert not {"report.html", "summary.json", ".report.html.1.part"} & set(names)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "not a run folder: there is no run.json in it"),
        (b"\xff\xfe", "cannot be read: it is no JSON in UTF-8"),
        (b"{", "cannot be read: it is no JSON in UTF-8"),
        (b"[]", "cannot be read: it is no JSON object"),
    ],
)
def test_a_missing_or_spoilt_description_is_named_without_python_words(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "run.json").write_bytes(content)
    with pytest.raises(InputError, match=f": {said}$"):
        open_run(tmp_path)


def test_a_folder_that_is_read_again_has_all_its_rows_once(tmp_path: Path) -> None:
    """Each file ends within a row when it is read first; then a second agent comes, and its rows are read, too."""
    whole = RunFolder(tmp_path / "whole", agents=2, measure=3, steal=0.0).write()
    folder = RunFolder(tmp_path / "run", measure=3, steal=0.0).write()
    files = [whole / "agent-0" / name for name in ("series.jsonl", "users.jsonl", "histograms.hlog")]
    for file in (*files, whole / "meters.jsonl"):
        (folder / file.relative_to(whole)).write_bytes(file.read_bytes()[:-5])
    reader = RunReader(folder)
    assert len(reader.read().damage) == 4
    for file in (*files, whole / "meters.jsonl"):
        with (folder / file.relative_to(whole)).open("ab") as grown:
            grown.write(file.read_bytes()[-5:])
    assert_same(reader.read(), open_run(folder))
    shutil.copytree(whole / "agent-1", folder / "agent-1")
    assert_same(reader.read(), open_run(folder))


def assert_same(again: Recorded, whole: Recorded) -> None:
    assert (again.agents, again.metered, again.damage) == (whole.agents, whole.metered, whole.damage)
    assert {key: each.count for key, each in again.measured.items()} == {
        key: each.count for key, each in whole.measured.items()
    }
