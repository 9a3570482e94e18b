from pathlib import Path

import pytest

from cuesta.errors import InputError, UsageError
from cuesta.plan import Plan, RawOptions, load
from tests.conftest import Write

PLAN = """
users = 4
settle = "3s"

[[group]]
name = "typists"
tape = "typist.tape"
think = "exp 2s"
"""


def users(plan: Plan) -> int:
    return plan.settings.group[0].users


def test_the_default_is_the_main_job(here: Path) -> None:
    plan = load(RawOptions(), here)
    assert (plan.settings.name, users(plan), plan.settings.group[0].target) == ("interactive", 96, "host:")


def test_the_project_file_stands_above_the_main_job(here: Path, write: Write) -> None:
    write("cuesta.toml", 'users = 3\nsettle = "1s"\n[host]\ndelay = "5ms"\n[validity]\nsteal = 0.5')
    settings = load(RawOptions(flags={"users": "4"}), here).settings
    assert (settings.group[0].users, settings.settle, settings.measure) == (4, 10**9, 30 * 10**9)
    assert (settings.group[0].tape, settings.host.delay, settings.validity.steal) == (
        "builtin:interactive",
        5_000_000,
        0.5,
    )


def test_an_empty_plan_has_defaults(here: Path, write: Write) -> None:
    plan = load(RawOptions(plan=write("plan.toml", "")), here)
    assert (users(plan), plan.settings.group[0].target, len(plan.steps)) == (1, "host:", 1)


def test_flag_beats_environment_beats_plan_beats_project_beats_default(here: Path, write: Write) -> None:
    write("cuesta.toml", 'users = 3\nmeasure = "7s"')
    assert users(load(RawOptions(), here)) == 3
    path = write("plan.toml", PLAN)
    assert users(load(RawOptions(plan=path), here)) == 4
    environment = {"CUESTA_USERS": "5", "CUESTA_SEED": "9", "CUESTA_DEBUG": "1", "OTHER": "x"}
    assert users(load(RawOptions(plan=path, environment=environment), here)) == 5
    plan = load(RawOptions(plan=path, environment=environment, flags={"users": "6"}), here)
    assert (users(plan), plan.settings.seed, plan.settings.settle, plan.settings.measure) == (
        6,
        9,
        3 * 10**9,
        7 * 10**9,
    )
    assert plan.settings.stamps == 16


def test_a_named_tape_goes_before_the_environment_as_a_flag_does(here: Path, write: Write) -> None:
    environment = {"CUESTA_TAPE": "typing"}
    target = {"target": "pty:cat"}
    plan = write("plan.toml", 'tape = "mine.tape"\n')
    options = [
        RawOptions(environment=environment, flags=target),
        RawOptions(plan=plan, environment=environment, flags=target),
        RawOptions(tape="mine.tape", environment=environment, flags=target),
        RawOptions(plan=plan, environment=environment, flags={**target, "tape": "mine.tape"}),
    ]
    tapes = [load(each, here).settings.group[0].tape for each in options]
    assert tapes == ["builtin:typing", "builtin:typing", str(here / "mine.tape"), str(here / "mine.tape")]


def test_a_misspelt_variable_is_refused(here: Path) -> None:
    with pytest.raises(UsageError, match="CUESTA_USER: no such setting; did you mean `CUESTA_USERS`"):
        load(RawOptions(environment={"CUESTA_USER": "5"}), here)


def test_settings_of_a_group_override_those_at_the_top(here: Path, write: Write) -> None:
    path = write("plan.toml", 'think = "exp 1s"\nrows = 30\n[[group]]\nname="a"\n[[group]]\nname="b"\nthink = "exp 2s"')
    groups = load(RawOptions(plan=path), here).settings.group
    assert [(group.think, group.rows) for group in groups] == [("exp 1s", 30), ("exp 2s", 30)]


def test_files_of_a_plan_are_relative_to_it_and_files_of_flags_to_here(here: Path, write: Write) -> None:
    (here / "sub").mkdir()
    path = write("sub/plan.toml", PLAN)
    group = load(RawOptions(plan=path, flags={"data": "users.csv"}), here).settings.group[0]
    assert (group.tape, group.data) == (str(here / "sub/typist.tape"), str(here / "users.csv"))


def test_a_tape_names_the_run(here: Path) -> None:
    plan = load(RawOptions(tape="some/log in.tape"), here)
    assert (plan.settings.name, plan.settings.group[0].tape) == ("log-in", str(here / "some/log in.tape"))


def test_users_of_a_flag_are_divided_among_groups_in_proportion(here: Path, write: Write) -> None:
    path = write("plan.toml", '[[group]]\nname="a"\nusers=2\n[[group]]\nname="b"\nusers=1')
    groups = load(RawOptions(plan=path, flags={"users": "10"}), here).settings.group
    assert [group.users for group in groups] == [7, 3]


def test_flags_add_limits_and_override_host_settings(here: Path, write: Write) -> None:
    path = write("plan.toml", 'limits = ["throughput > 1"]\n[host]\ndelay = "5ms"\nservers = 2')
    flags = {"limits": ["skipped == 0"], "host": {"delay": "6ms", "service": "echo"}}
    settings = load(RawOptions(plan=path, flags=flags), here).settings
    assert [str(limit) for limit in settings.limits] == ["throughput > 1", "skipped == 0"]
    assert (settings.host.delay, settings.host.servers, str(settings.host.service)) == (6_000_000, 2, "echo")


def test_a_flag_takes_its_setting_out_of_the_sweep(here: Path, write: Write) -> None:
    path = write("plan.toml", '[sweep]\nusers = [1, 2]\nthink = ["exp 1s", "exp 2s", "exp 3s"]')
    assert len(load(RawOptions(plan=path), here).steps) == 6
    assert len(load(RawOptions(plan=path, flags={"users": "7"}), here).steps) == 3


def test_a_flag_with_several_values_is_a_sweep(here: Path, write: Write) -> None:
    path = write("plan.toml", '[sweep]\nusers = [1, 2]\nthink = ["exp 1s", "exp 2s"]')
    steps = load(RawOptions(plan=path, flags={"users": "10, 50,150"}), here).steps
    assert [step.settings.group[0].users for step in steps] == [10, 50, 150] * 2
    steps = load(RawOptions(environment={"CUESTA_USERS": "3,4"}), here).steps
    assert [step.swept for step in steps] == [{"users": "3"}, {"users": "4"}]


@pytest.mark.parametrize(
    ("flags", "environment", "text"),
    [
        ({"users": "-3"}, {}, r"--users: expected a number of users, got '-3'"),
        ({"key_rate": "x"}, {}, r"--key-rate: expected keys a second"),
        ({"limits": ["x"]}, {}, r"--limit: expected a limit"),
        ({"users": "10,x"}, {}, r"--users: expected a number of users, got 'x'"),
        ({"host": {"servers": "0"}}, {}, r"--host servers: expected a number, got '0'"),
        ({"target": "sh -i"}, {}, r"did you mean `pty:sh -i`\?"),
        ({"host": {"delai": "1s"}}, {}, r"--host delai: no such setting; did you mean `delay`\?"),
        ({}, {"CUESTA_USERS": "many"}, r"CUESTA_USERS: expected a number of users, got 'many'"),
    ],
)
def test_a_bad_flag_is_a_usage_error_that_names_it(
    here: Path, flags: dict[str, object], environment: dict[str, str], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        load(RawOptions(flags=flags, environment=environment), here)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[group]]\nname = "a"', "belong in a plan"),
        ("users = ", "it is not TOML"),
    ],
)
def test_a_bad_project_file_is_refused(here: Path, write: Write, text: str, message: str) -> None:
    write("cuesta.toml", text)
    with pytest.raises(InputError, match=message):
        load(RawOptions(), here)


def test_a_missing_plan_is_reported(here: Path) -> None:
    with pytest.raises(InputError, match=r"nope.toml: cannot read the plan: No such file"):
        load(RawOptions(plan=here / "nope.toml"), here)
