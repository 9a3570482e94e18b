from pathlib import Path

import pytest

from cuesta.engine.job import prepare
from cuesta.errors import InputError
from cuesta.plan import Plan, RawOptions, load
from cuesta.plan.schema import PublishedTable
from tests.conftest import Write

TYPED = """
title = "Results"
source = "A memo, 1993"
[table.telnet]
title = "5 cps results"
columns = ["ports", "usr", "response"]
rows = { five = [5, "1", "20"], many = [25, { printed = "6.", reading = "6" }, "1,040"] }
[table.setting]
rows = { baud = 9600 }
"""
ENTRY = """
[[published_table]]
table = "typed.toml#telnet"
users = "ports"
columns = { usr = "host.cpu.usr", response = ["response.mean"] }
units = { response = "1ms" }
"""


def plan_of(here: Path, write: Write, entry: str) -> Plan:
    write("typed.toml", TYPED)
    return load(RawOptions(plan=write("plan.toml", entry)), here)


def test_a_plan_holds_the_table_that_it_names(here: Path, write: Write) -> None:
    (entry,) = plan_of(here, write, ENTRY).settings.published_table
    assert (entry.table.title, entry.table.source) == ("5 cps results", "A memo, 1993")
    assert entry.table.rows == [[5, 1, 20], [25, 6, 1040]]
    assert entry.columns == {"usr": ("host.cpu.usr",), "response": ("response.mean",)}


def test_a_record_of_the_plan_needs_no_file(here: Path, write: Write) -> None:
    (entry,) = plan_of(here, write, ENTRY).settings.published_table
    recorded = entry.model_dump(mode="json")
    (here / "typed.toml").unlink()
    assert PublishedTable.model_validate(recorded) == entry


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("#telnet", ""), "expected a table of typed figures `FILE#TABLE`.*there is no `#`"),
        (("#telnet", "#ssh"), "the file has no table of columns `ssh`; it has telnet"),
        (("typed.toml", "other.toml"), "it cannot be read: No such file"),
        (('users = "ports"', 'users = "people"'), "the table has no column `people`; it has ports, usr, response"),
        (("{ usr =", "{ user ="), "the table has no column `user`"),
        (("host.cpu.usr", "host.cpu.user"), r"docs/summary.md has no figure `host.cpu.user`"),
    ],
)
def test_what_is_wrong_is_named(change: tuple[str, str], said: str, here: Path, write: Write) -> None:
    with pytest.raises(InputError, match=said):
        plan_of(here, write, ENTRY.replace(*change))


def test_a_table_that_no_step_repeats_is_refused(here: Path, write: Write) -> None:
    swept = 'isolate = true\n[sweep]\ntmux = ["off", "20ms"]\n'
    prepare(plan_of(here, write, f'{swept}{ENTRY}when = {{ tmux = "20ms", "host.threads" = "1" }}'))
    with pytest.raises(InputError, match=r"published table `5 cps results`: no step has tmux = 5ms") as raised:
        prepare(plan_of(here, write, f'{swept}{ENTRY}when = {{ tmux = "5ms" }}'))
    assert raised.value.remedy == "the first step has tmux = off"
