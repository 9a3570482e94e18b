from pathlib import Path

import pytest

from cuesta.errors import InputError, UsageError
from cuesta.plan import Plan, RawOptions, load
from tests.conftest import Write

GROUPS = '[[group]]\nname = "a"\nusers = 2\n[[group]]\nname = "b"\nusers = 1\n'


def plan_of(here: Path, write: Write, text: str) -> Plan:
    return load(RawOptions(plan=write("plan.toml", text)), here)


def test_the_last_axis_turns_fastest(here: Path, write: Write) -> None:
    plan = plan_of(here, write, '[sweep]\nthink = ["exp 1s", "exp 2s"]\nusers = [1, 35]')
    seen = [(step.settings.group[0].think, step.settings.group[0].users) for step in plan.steps]
    assert seen == [("exp 1s", 1), ("exp 1s", 35), ("exp 2s", 1), ("exp 2s", 35)]
    assert plan.steps[3].swept == {"think": "exp 2s", "users": 35}


def test_an_axis_may_belong_to_one_group_or_to_the_host(here: Path, write: Write) -> None:
    plan = plan_of(here, write, GROUPS + '[sweep]\ngroup.b.users = [1, 9]\nhost.delay = ["1ms", "2ms"]')
    seen = [(*(group.users for group in step.settings.group), step.settings.host.delay) for step in plan.steps]
    assert seen == [(2, 1, 10**6), (2, 1, 2 * 10**6), (2, 9, 10**6), (2, 9, 2 * 10**6)]


def test_users_stay_connected_while_lines_and_host_stay(here: Path, write: Write) -> None:
    plan = plan_of(here, write, "[sweep]\nline_speed = [300, 1200]\nusers = [1, 2, 3]")
    assert [(segment.folder, segment.first, len(segment.steps)) for segment in plan.segments()] == [
        (".", 0, 3),
        ("segment-3", 3, 3),
    ]
    plan = plan_of(here, write, '[sweep]\nload = ["closed", "paced:1s"]\nkey_rate = [1, 2]\nstagger = ["1s", "2s"]')
    assert len(plan.segments()) == 1
    plan = plan_of(here, write, "[sweep]\nseed = [1, 2]")
    assert len(plan.segments()) == 2


def test_an_axis_may_change_several_settings_together(here: Path, write: Write) -> None:
    axis = '"think + host.delay" = [["exp 1s", "1ms"], ["exp 2s", "2ms"]]'
    plan = plan_of(here, write, f"[sweep]\n{axis}\nusers = [1, 35]")
    seen = [
        (step.settings.group[0].think, step.settings.host.delay, step.settings.group[0].users) for step in plan.steps
    ]
    assert seen == [(f"exp {n}s", n * 10**6, users) for n in (1, 2) for users in (1, 35)]
    assert plan.steps[3].swept == {"think": "exp 2s", "host.delay": "2ms", "users": 35}
    with pytest.raises(UsageError, match=r"the plan sweeps think \+ host.delay together"):
        load(RawOptions(plan=here / "plan.toml", flags={"think": "exp 9s"}), here)


def test_files_that_are_swept_with_other_settings_are_relative_to_the_plan(here: Path, write: Write) -> None:
    axis = '"tape + think" = [["one.tape", "exp 1s"], ["builtin:interactive", "exp 2s"]]'
    plan = plan_of(here, write, f"[sweep]\n{axis}")
    assert [step.settings.group[0].tape for step in plan.steps] == [str(here / "one.tape"), "builtin:interactive"]


def test_what_works_on_the_wire_can_be_swept_and_begins_a_segment_each(here: Path, write: Write) -> None:
    plan = plan_of(here, write, 'isolate = true\n[sweep]\ntmux = ["off", "0ms", "20ms"]\ndefer = ["off", "5ms"]')
    seen = [(step.settings.tmux, step.settings.defer) for step in plan.steps]
    assert seen == [(hold, wait) for hold in (None, 0, 20_000_000) for wait in (None, 5_000_000)]
    assert len(plan.segments()) == 6
    plan = plan_of(here, write, 'load = "paced:200ms"\n[sweep]\nalign = ["off", "20ms"]')
    assert ([step.settings.group[0].align for step in plan.steps], len(plan.segments())) == ([None, 20_000_000], 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[sweep]\nuser = [1]", r"plan.toml: sweep.user: no such setting to sweep; did you mean `users`\?"),
        (GROUPS + "[sweep]\ngroup.c.users = [1]", r"sweep.group.c.users: no such setting"),
        ('[sweep]\n"think + uses" = [["exp 1s", 3]]', r"sweep.uses: no such setting to sweep; did you mean `users`"),
        ('[sweep]\n"think + users" = ["exp 1s"]', "expected lists of 2 values, one for each setting"),
        ("[sweep]\nusers = []", r"sweep.users: expected a list of values, got an empty one"),
        ("[sweep]\nusers = 3", r"sweep.users: expected a list, got 3"),
        ("[sweep]\nusers = [1, -1]", r"sweep \(users = -1\): users: expected a number of users, got -1"),
        (f"[sweep]\nusers = {list(range(1, 2000))}", "over 1000 steps"),
    ],
)
def test_a_bad_axis_is_named(here: Path, write: Write, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_of(here, write, text)
