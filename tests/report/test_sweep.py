"""The columns of a sweep, and where it saturates."""

import re
from pathlib import Path

from cuesta.analysis.capacity.asymptotes import Asymptotes, HeavyLoadAsymptote, LightLoadAsymptote
from cuesta.analysis.summary import summarise
from cuesta.figures.limit import Limit
from cuesta.report.figure import mark_few, write_marked
from cuesta.report.run_report import text
from cuesta.report.sweep import describe_saturation, name_limited_figures
from tests.run_folder import RunFolder, edit_run


def test_an_unequal_limit_has_the_column_of_its_figure(tmp_path: Path) -> None:
    limits = ["response.p99 != 1s", "errors.count==0", "throughput > 1/s", "response{x}.p95<=2s"]
    swept = summarise(RunFolder(tmp_path / "run", users=(2, 4), limits=limits).write())
    assert list(name_limited_figures(swept).values()) == [
        *("response.p99", "errors.count", "transactions.per_s"),
        "response{x}.p95",
    ]


def test_a_limit_on_one_group_has_a_column_beside_a_swept_group(tmp_path: Path) -> None:
    keys = [("interactive/keys/echo", [0.02] * 400), ("interactive/keys/echo_from_sent", [0.02] * 400)]
    folder = RunFolder(tmp_path / "run", users=(2, 4), limits=["echo{interactive}.p95 < 9s"], histograms=keys).write()
    with edit_run(folder) as run:
        for step in run["steps"]:
            step["swept"] = {"group.interactive.users": step["swept"]["users"]}
    output = text(summarise(folder), colour=False)
    assert re.search(r"step +interactive\.users +transactions/s +errors +echo\{interactive\}\.p95\n", output)
    assert re.search(r"\n +2 +4 +2\.00 +0 +20\.0 ms +kept\n", output)


def test_percentiles_of_few_values_are_marked_in_a_sweep(tmp_path: Path) -> None:
    limits = ["response{a, b/c}.p99.9 < 9s", "response.p60 < 9s", "response.max < 9s"]
    (first, _) = summarise(RunFolder(tmp_path / "run", users=(2, 4), limits=limits).write()).steps
    marks = [mark_few(Limit.read(limit).figure, first) for limit in limits]
    assert marks == ["*", "", ""]
    assert write_marked("response.p99", first).endswith("*")
    assert not write_marked("transactions.per_s", first).endswith("*")


def test_a_sweep_says_at_how_many_users_it_saturates() -> None:
    light = LightLoadAsymptote(users=1, response=0.1, own_time=0.9, error=0.01)
    heavy = HeavyLoadAsymptote("servers", (8, 16), utilization=0.99, demand=0.05, error=0.01)
    (sentence,) = describe_saturation(Asymptotes(light, "", heavy, ""))
    assert sentence.startswith("saturates at about 20.0 users, with 95 % from ")
    assert "where the ceiling set by servers is reached" in sentence
