from pathlib import Path

import pytest

from cuesta.engine.job import SECOND, Job, fit_service, most_users, prepare, timeline
from cuesta.engine.tapes import read_tape
from cuesta.errors import InputError
from cuesta.plan import RawOptions, load
from tests.conftest import Write


def job_of(here: Path, write: Write, text: str) -> Job:
    return prepare(load(RawOptions(plan=write("plan.toml", text)), here))


def test_a_step_takes_time_for_users_who_start_or_leave(here: Path, write: Write) -> None:
    job = job_of(here, write, 'stagger = "1s"\nsettle = "5s"\nmeasure = "10s"\n[sweep]\nusers = [2, 5, 3, 6]')
    (segment,) = job.plan.segments()
    seen = [(times.begin // SECOND, times.settled // SECOND, times.end // SECOND) for times in timeline(segment)]
    assert seen == [(0, 7, 17), (17, 25, 35), (35, 42, 52), (52, 60, 70)]
    assert most_users(segment) == 6


@pytest.mark.parametrize(
    ("tape", "service"),
    [
        ('Type "ls"\nEnter\nWait+Bytes 80', "transaction 80"),
        ('Transaction "x"\nType "ls"\nEnter\nWait+Bytes 80\nEnd', "transaction 80"),
        ('Type "a"\nWait+Echo', "echo"),
        ('Type "a"', "echo"),
        ('Type "ls"\nEnter\nWait /done/', "transaction 150"),
    ],
)
def test_the_default_service_fits_the_tape(write: Write, tape: str, service: str) -> None:
    write("x.tape", tape)
    assert str(fit_service(read_tape("x.tape"))) == service


@pytest.mark.parametrize(
    ("target", "tape", "why"),
    [
        ('target = "telnet://127.0.0.1:1"', "PA1", "a VT has no key for PA1"),
        ('host.service = "echo"', "Enter\nWait+Unlock", "at the built-in host: echo: a VT's keyboard is never locked"),
        ('host.service = "form 150"', "Ctrl+C", "a 3270 has no chords"),
        ('target = "tn3270://127.0.0.1:1"', "Enter\nWait+Delivered", "is for bsc:// targets"),
        ('target = "ws://127.0.0.1:1/#frames=text"', r'Press "\xff"', r'bytes of Press "\\xff" are no UTF-8'),
        ('target = "ws://127.0.0.1:1/#frames=text&charset=cp437"', 'Type "a"', "leave charset out"),
    ],
)
def test_a_tape_is_for_the_terminals_of_its_target(here: Path, write: Write, target: str, tape: str, why: str) -> None:
    write("x.tape", tape)
    with pytest.raises(InputError, match=why):
        job_of(here, write, f'tape = "x.tape"\n{target}')


def test_bytes_that_are_no_text_can_be_typed_where_a_line_carries_bytes(here: Path, write: Write) -> None:
    write("x.tape", r'Press "\xff"')
    job_of(here, write, 'tape = "x.tape"\ntarget = "ws://127.0.0.1:1/"')
    write("x.tape", r'Press "\xc3\xa9"')
    job_of(here, write, 'tape = "x.tape"\ntarget = "ws://127.0.0.1:1/#frames=text"')


def test_tapes_of_one_name_are_numbered(here: Path, write: Write) -> None:
    for folder in ("a", "b"):
        (here / folder).mkdir()
        write(f"{folder}/x.tape", 'Type "a"')
    job = job_of(here, write, '[[group]]\nname = "a"\ntape = "a/x.tape"\n[[group]]\nname = "b"\ntape = "b/x.tape"')
    assert [tape.name for tape in job.tapes.values()] == ["x", "x-2"]


def test_a_limit_names_a_transaction_that_a_tape_has(here: Path, write: Write) -> None:
    write("login.tape", 'Transaction "log in"\nType "a"\nWait+Echo\nEnd\nType "b"\nWait+Echo')
    for name in ("log in", "login"):
        job_of(here, write, f'tape = "login.tape"\nlimits = ["response{{{name}}}.p95 < 1s"]')
    with pytest.raises(InputError, match="no tape has this transaction; did you mean `log in`"):
        job_of(here, write, 'tape = "login.tape"\nlimits = ["response{logn in}.p95 < 1s"]')


def test_a_limit_on_echoes_names_a_group_that_the_plan_has(here: Path, write: Write) -> None:
    groups = '[[group]]\nname = "students"\n[[group]]\nname = "clerks"\n'
    for whose in ("students", "clerks"):
        job_of(here, write, f'limits = ["echo{{{whose}}}.p95 < 100ms", "response{{{whose}}}.p95 < 1s"]\n{groups}')
    with pytest.raises(InputError, match="`echo` is of groups; did you mean `clerks`"):
        job_of(here, write, f'limits = ["echo{{clerk}}.p95 < 100ms"]\n{groups}')


def test_a_limit_on_a_host_names_one_that_is_metered(here: Path, write: Write) -> None:
    hosts = 'meters = ["gate=pid:7", "ssh://farm"]'
    for name in ("gate", "farm"):
        job_of(here, write, f'limits = ["host{{{name}}}.cpu.usr < 80%"]\n{hosts}')
    with pytest.raises(InputError, match="--meters names no such host; did you mean `farm`"):
        job_of(here, write, f'limits = ["host{{farn}}.cpu.usr < 80%"]\n{hosts}')


def test_a_published_figure_names_a_transaction_that_a_tape_has(here: Path, write: Write) -> None:
    write("login.tape", 'Transaction "log in"\nType "a"\nWait+Echo\nEnd')
    with pytest.raises(InputError, match="published `patience`: no tape has this transaction; did you mean `log in`"):
        row = 'what = "patience"\nfigure = "response{logn in}.p95"\nvalue = "1s"\nsource = "a memo"'
        job_of(here, write, f'tape = "login.tape"\n[[published]]\n{row}')


def test_columns_that_a_tape_needs_must_exist(here: Path, write: Write) -> None:
    write("login.tape", 'Type "${user}"\nType "${password}"')
    with pytest.raises(InputError, match=r"asks for \$\{password\}, and no users are given"):
        job_of(here, write, 'tape = "login.tape"')
    write("users.csv", "user,pin\nu1,1\n")
    with pytest.raises(InputError, match=r"users.csv: no column `password`") as raised:
        job_of(here, write, 'tape = "login.tape"\ndata = "users.csv"')
    assert raised.value.remedy == "of the tape's columns it has: user"


def test_columns_that_a_target_names_must_exist_and_be_filled(here: Path, write: Write) -> None:
    target = "ws://host.invalid/{ns}?token={token}"
    plan = f'tape = "bash"\ntarget = "{target}"\nusers = 3'
    with pytest.raises(
        InputError, match=r"the target ws://host.invalid:80/\{ns\}.* names the column `ns` .* no users are"
    ):
        job_of(here, write, plan)
    write("users.csv", "ns,pin\na,1\n")
    with pytest.raises(InputError, match=r"users.csv: no column `token`: the target ws:.* names the column `token`"):
        job_of(here, write, f'{plan}\ndata = "users.csv"')
    write("users.csv", "ns,token\na,1\nb,\n")
    with pytest.raises(InputError, match=r"users.csv: user 2 of its users has no `token`"):
        job_of(here, write, f'{plan}\ndata = "users.csv"')
    write("users.csv", "ns,token\na,1\nb,2\n")
    job = job_of(here, write, f'{plan}\ndata = "users.csv"')
    assert job.plan.settings.group[0].target == "ws://host.invalid:80/{ns}?token={token}"


def test_more_agents_than_users_are_refused(here: Path, write: Write) -> None:
    assert job_of(here, write, "users = 3\nagents = 3").plan.settings.agents == 3
    with pytest.raises(InputError, match="4 agents cannot share 3 users"):
        job_of(here, write, "agents = 4\n[sweep]\nusers = [3, 2]")


@pytest.mark.parametrize("setting", ['tmux = "20ms"', 'defer = "5ms"', '[sweep]\ntmux = ["off", "20ms"]'])
def test_what_works_on_the_wire_needs_one(setting: str, here: Path, write: Write) -> None:
    with pytest.raises(
        InputError, match=r"(tmux|defer): it works on the wire .* without `isolate` there is none"
    ) as raised:
        job_of(here, write, setting)
    assert raised.value.remedy == "give each a network of its own: isolate = true or --isolate, as root"
    job_of(here, write, f"isolate = true\n{setting}")


def test_the_hosts_cpus_have_a_name_if_it_has_some(here: Path, write: Write) -> None:
    for meters in ("cpus:host", "exact:cpus:host"):
        with pytest.raises(InputError, match="the host has no CPUs of its own"):
            job_of(here, write, f'meters = "{meters}"')
        job_of(here, write, f'pin = true\nmeters = "{meters}"')


@pytest.mark.parametrize(
    ("load", "align", "said"),
    [
        ("closed", "20ms", "only a paced load has instants that can be aligned, not `closed`"),
        ("paced:200ms", "30ms", "the cycle of `paced:200ms` is no multiple of 30ms"),
        ("paced:200ms", "0ms", "the cycle of `paced:200ms` is no multiple of 0s"),
    ],
)
def test_keys_are_aligned_to_a_grid_that_divides_the_cycle(
    load: str, align: str, said: str, here: Path, write: Write
) -> None:
    with pytest.raises(InputError, match=said):
        job_of(here, write, f'load = "{load}"\nalign = "{align}"')
    job_of(here, write, 'load = "paced:200ms"\nalign = "20ms"')
