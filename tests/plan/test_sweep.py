from pathlib import Path

import pytest

from cuesta.errors import InputError, UsageError
from cuesta.plan import Plan, RawOptions, load
from cuesta.plan.sweep import at_load
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


def test_a_probe_keeps_its_users(here: Path, write: Write) -> None:
    groups = f'{GROUPS}[[group]]\nname = "p"\nrole = "probe"\nusers = 4\n'
    plan = plan_of(here, write, f"{groups}[sweep]\nusers = [6, 30]")
    assert [[group.users for group in step.settings.group] for step in plan.steps] == [[4, 2, 4], [20, 10, 4]]
    assert [group.users for group in at_load(plan.settings, 9).settings.group] == [6, 3, 4]
    one = load(
        RawOptions(
            plan=write("plan.toml", groups.replace('name = "b"\nusers = 1', 'name = "b"\nusers = 0')),
            flags={"users": "6"},
        ),
        here,
    )
    assert [group.users for group in one.settings.group] == [6, 0, 4]


def test_settings_of_one_group_stand_in_its_own_table(here: Path, write: Write) -> None:
    """`nodes` at the top of a plan is the plan's, in a group it is the probe's."""
    own = '[[group]]\nname = "a"\n[[group]]\nname = "p"\nrole = "probe"\nusers = 2\nnodes = 2\n'
    settings = plan_of(here, write, f'engine = "ray"\nnodes = 7\n{own}').settings
    assert (settings.nodes, [group.nodes for group in settings.group]) == (7, [None, 2])
    by_flag = load(RawOptions(plan=write("plan.toml", own), flags={"engine": "ray", "nodes": "5"}), here).settings
    assert (by_flag.nodes, [group.nodes for group in by_flag.group]) == (5, [None, 2])
    by_keyword = load(RawOptions(plan=write("plan.toml", own), keywords={"nodes": 3, "engine": "ray"}), here).settings
    assert (by_keyword.nodes, [group.nodes for group in by_keyword.group]) == (3, [None, 2])
    with pytest.raises(InputError, match="role: no such setting"):
        plan_of(here, write, f'role = "probe"\n{own}')
    with pytest.raises(InputError, match=r"group\.p\.nodes: no such setting to sweep"):
        plan_of(here, write, f"{own}[sweep]\ngroup.p.nodes = [1, 2]")


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ('role = "probe"', "all groups are probes"),
        ('nodes = 2\n[[group]]\nname = "b"', "a: nodes: only a probe has nodes of its own"),
        ('role = "probe"\nbackground = true\n[[group]]\nname = "b"', "a: a probe is beside all others"),
    ],
)
def test_a_probe_is_beside_a_load(groups: str, why: str, here: Path, write: Write) -> None:
    with pytest.raises(InputError, match=why):
        plan_of(here, write, f'[[group]]\nname = "a"\n{groups}')


def test_other_sessions_of_a_probe_are_no_probe(here: Path, write: Write) -> None:
    groups = '[[group]]\nname = "a"\n[[group]]\nname = "p"\nrole = "probe"\nsessions = 3\n'
    plan = plan_of(here, write, f'target = "pty:sh"\ntape = "typing"\n{groups}')
    assert [(group.name, group.is_probe) for group in plan.settings.group] == [
        ("a", False),
        ("p", True),
        ("p-others", False),
    ]
