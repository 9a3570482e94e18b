"""Facts of runs that must be equal, facts that may differ, and how a difference is named."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from cuesta.analysis.compare.comparability import HOST, collect_facts, list_differences
from tests.analysis.runs import FACTS, RUN

Row = dict[str, Any]


def changed(edit: Callable[[Row], object]) -> list[str]:
    """The differences that an edit of the record causes."""
    run: Row = copy.deepcopy(RUN)
    edit(run)
    return [str(each) for each in list_differences(FACTS, collect_facts(run))]


def group(run: Row) -> Row:
    """The group of the first step."""
    found: Row = run["steps"][0]["group"][0]
    return found


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda run: run["machine"].update(cpus=4), "machine: cpus 2 against 4"),
        (lambda run: run["machine"].update(memory=16 << 30), "machine: memory 8.0 GiB against 16.0 GiB"),
        (lambda run: run["machine"].update(id="other"), "machine: id 5bce98f73f3e against other"),
        (lambda run: run.update(cuesta="0.2.0"), "driver: version 0.1.0 against 0.2.0"),
        (lambda run: run["plan"].update(threads=2), "driver: threads 1 against 2"),
        (lambda run: run["plan"].update(brand_new="on"), "driver: brand_new (none) against on"),
        (lambda run: run["plan"].update(tmux="20ms"), "driver: tmux (none) against 20ms"),
        (lambda run: run["plan"]["validity"].update(steal=0.9), "driver: validity.steal 0.1 against 0.9"),
        (lambda run: run["tapes"]["interactive"].update(sha256="00" * 32), "tapes: interactive 8f8f8f8f8f8f… against"),
        (lambda run: group(run).update(users=95), "population: users 96 against 95"),
        (lambda run: group(run).update(load="paced:200ms"), "population: load closed against paced:200ms"),
        (lambda run: run["plan"].update(beside="make -j8"), "neighbours: beside (none) against make -j8"),
        (lambda run: group(run).update(sessions=10), "neighbours: sessions (none) against 10"),
        (lambda run: group(run).update(think="exp 5s"), "think times: think (none) against exp 5s"),
        (lambda run: group(run).update(line_speed=4800), "lines: line_speed (none) against 4800"),
        (lambda run: group(run).update(target="ssh://a:22"), "lines: line telnet: against ssh:"),
        (lambda run: group(run).update(target="telnet://a:23?x=1"), "lines: line telnet: against telnet:?x=1"),
        (lambda run: run["steps"][0].update(measure="10s"), "method: measure 30s against 10s"),
        (lambda run: run["plan"].update(meters="none"), "method: meters (none) against none"),
        (lambda run: run["plan"].update(path="1/30"), "method: path (none) against 1/30"),
    ],
)
def test_a_difference_is_named(edit: Callable[[Row], object], said: str) -> None:
    found = changed(edit)
    assert len(found) == 1
    assert found[0].startswith(said)


@pytest.mark.parametrize(
    "edit",
    [
        lambda run: run["plan"].update(path="none"),
        lambda run: run["plan"].update(seed=7, limits=["response.p99 < 1s"]),
        lambda run: run["plan"]["host"].update(service_time="exp 9ms"),
        lambda run: group(run).update(target="telnet://b:2323", name="users", data="/elsewhere/users.csv"),
        lambda run: run["plan"].update(tmux="off", defer="off", published_table=[{"users": "ports"}]),
        lambda run: run["machine"].update(memory=(8 << 30) + 4096, load=[9.0, 9.0, 9.0]),
    ],
)
def test_compared_and_irrelevant_settings_may_differ(edit: Callable[[Row], object]) -> None:
    assert changed(edit) == []


def test_differences_of_the_host_are_named() -> None:
    run = copy.deepcopy(RUN)
    run["plan"]["host"]["service_time"] = "exp 9ms"
    group(run)["target"] = "telnet://b:23"
    told = [str(each) for each in list_differences(FACTS, collect_facts(run), [HOST])]
    assert told == ["host: host.service_time exp 5ms against exp 9ms", "host: target a:23 against b:23"]


def test_another_command_is_another_host_on_the_same_line() -> None:
    commands = [copy.deepcopy(RUN) for _ in range(2)]
    for run, command in zip(commands, ("pty:emacs-29 -nw a?b", "pty:emacs-30 -nw a?b"), strict=True):
        group(run)["target"] = command
    base, new = map(collect_facts, commands)
    assert list_differences(base, new) == []
    assert len(list_differences(base, new, [HOST])) == 1


def test_steps_of_a_sweep_are_distinguished() -> None:
    runs = [copy.deepcopy(RUN) for _ in range(2)]
    for run, users in zip(runs, (100, 200), strict=True):
        run["steps"].append(copy.deepcopy(run["steps"][0]))
        run["steps"][1]["group"][0]["users"] = users
    assert [str(each) for each in list_differences(collect_facts(runs[0]), collect_facts(runs[1]))] == [
        "population: step 2 users 100 against 200"
    ]


def test_empty_records_are_comparable() -> None:
    assert list_differences(collect_facts({}), collect_facts({})) == []
