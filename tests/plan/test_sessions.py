"""A group with other sessions becomes two groups."""

from pathlib import Path

import pytest

from cuesta.engine.job import prepare
from cuesta.errors import UsageError
from cuesta.plan import Group, RawOptions, load
from cuesta.plan.sessions import STREAM_TAPE as STREAM
from cuesta.plan.sessions import is_shell


def groups(here: Path, **keywords: object) -> list[tuple[str, int, str, bool | None]]:
    """The groups of the last step: name, users, tape and whether it is in the background."""
    plan = load(RawOptions(tape="type.tape", keywords={"target": "pty:bash", **keywords}), here)
    return [
        (group.name, group.users, Path(group.tape).name if group.tape != STREAM else STREAM, group.background)
        for group in plan.steps[-1].settings.group
    ]


def test_the_others_stream_in_the_background(here: Path) -> None:
    own = ("users", 1, "type.tape", None)
    assert groups(here, sessions=10) == [own, ("others", 9, STREAM, True)]
    assert groups(here, sessions=10, sessions_tape="s.tape") == [own, ("others", 9, "s.tape", True)]
    assert groups(here, sessions=5, users=2) == [("users", 2, "type.tape", None), ("others", 3, STREAM, True)]


def test_the_tape_of_the_others_at_a_shell_ships_with_cuesta(here: Path) -> None:
    job = prepare(load(RawOptions(tape="typing", keywords={"target": "pty:bash", "sessions": 2}), here))
    tape = job.tape(job.plan.settings.group[1])
    assert (tape.name, tape.times_echo, tape.content.transactions(), tape.notes) == ("stream", False, [], ())


def test_one_session_has_a_group_of_no_others_and_keeps_its_lines_in_a_sweep(here: Path) -> None:
    plan = load(RawOptions(tape="type.tape", flags={"target": "pty:bash", "sessions": "1,10"}), here)
    assert [[group.users for group in step.settings.group] for step in plan.steps] == [[1, 0], [1, 9]]
    assert len(plan.segments()) == 1


def test_the_others_do_not_type_as_the_typist_does(here: Path) -> None:
    plan = load(RawOptions(tape="a.tape", keywords={"target": "pty:bash", "sessions": 3, "load": "paced:2s"}), here)
    others = plan.settings.group[1]
    assert (others.load, others.target) == (Group().load, "pty:bash")


def test_several_groups_have_their_own_others(here: Path) -> None:
    two = [{"name": "a", "sessions": 2, "tape": "t"}, {"name": "b", "tape": "t"}]
    assert [name for name, *_ in groups(here, group=two)] == ["a", "a-others", "b"]


@pytest.mark.parametrize(
    ("keywords", "says"),
    [
        ({"sessions": 2, "users": 3}, "sessions: 2 are fewer than the users, 3"),
        ({"sessions": 0}, "sessions: expected a number"),
        ({"sessions": 3, "target": "pty:vim"}, "what do its other sessions stream?"),
    ],
)
def test_what_cannot_be_is_refused(here: Path, keywords: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("?", r"\?")):
        groups(here, **keywords)


@pytest.mark.parametrize(
    ("target", "shell"),
    [
        ("pty:bash", True),
        ("pty:env PS1='$ ' /bin/bash --norc -i", True),
        ("pty:exec fish", True),
        ("ssh://me@there", True),
        ("pty:vim notes", False),
        ("pty:ssh-agent", False),
        ("pty:'", False),
        ("tcp://127.0.0.1:23", False),
    ],
)
def test_a_shell_is_known_by_its_name(target: str, shell: bool) -> None:
    assert is_shell(target) is shell
