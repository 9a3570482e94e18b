from pathlib import Path

import pytest

from cuesta.engine.job import prepare
from cuesta.errors import InputError
from cuesta.plan import Plan, RawOptions, load
from cuesta.plan.published import PublishedTable
from tests.conftest import Write

TYPED = """
title = "Results"
source = "A memo, 1993"
[table.telnet]
title = "5 cps results"
columns = ["ports", "usr", "response"]
rows = { five = [5, "1", "20"], many = [25, { printed = "6.", reading = "6" }, "1,040"] }
[table.releases]
title = "By release"
columns = ["ports", "think", "kchars", "idle"]
rows = { old = [51, 0, "6.7", "N/A"], new = [96, 0, "5.2", "<15%"], newest = [96, 5, "5.9"] }
[table.words]
title = "By words"
columns = ["ports", "usr"]
rows = { many = ["many", "6"] }
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


BY_ROWS = """
[[published_table]]
table = "typed.toml#releases"
rows = { old = { users = 51 }, new = { users = 96 } }
columns = { kchars = "characters.line_out_per_s", idle = "host.builtin.idle" }
units = { kchars = 1000 }
"""


def test_cells_that_are_no_numbers_are_texts_and_a_row_may_lack_some(here: Path, write: Write) -> None:
    (entry,) = plan_of(here, write, BY_ROWS + "[sweep]\nusers = [51, 96]").settings.published_table
    assert entry.table.names == ["old", "new", "newest"]
    assert entry.table.rows == [[51, 0, 6.7, "N/A"], [96, 0, 5.2, "<15%"], [96, 5, 5.9, None]]
    assert (entry.rows, entry.units) == ({"old": {"users": "51"}, "new": {"users": "96"}}, {"kchars": 1000})


def test_a_row_that_no_step_repeats_is_refused(here: Path, write: Write) -> None:
    prepare(plan_of(here, write, f"{BY_ROWS}[sweep]\nusers = [51, 96]"))
    with pytest.raises(InputError, match=r"published table `By release`: no step has users = 96") as raised:
        prepare(plan_of(here, write, f"{BY_ROWS}[sweep]\nusers = [51, 95]"))
    assert raised.value.remedy == "the first step has users = 51"


def test_a_row_names_a_tape_as_the_sweep_does(here: Path, write: Write) -> None:
    """Both are relative to the plan."""
    write("one.tape", "Type 'a' Wait+Echo")
    rows = BY_ROWS.replace("users = 51", 'tape = "one.tape"').replace("users = 96", 'tape = "builtin:interactive"')
    prepare(plan_of(here, write, f'{rows}[sweep]\n"tape + users" = [["one.tape", 1], ["builtin:interactive", 2]]'))


def test_a_record_of_the_plan_needs_no_file(here: Path, write: Write) -> None:
    (entry,) = plan_of(here, write, ENTRY).settings.published_table
    recorded = entry.model_dump(mode="json")
    (here / "typed.toml").unlink()
    assert PublishedTable.model_validate(recorded) == entry


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("#telnet", ""), "expected a table of typed figures `FILE#TABLE`.*there is no `#`"),
        (("#telnet", "#ssh"), "the file has no table of columns `ssh`; it has telnet, releases, words"),
        (("typed.toml", "other.toml"), "it cannot be read: No such file"),
        (('users = "ports"', 'users = "people"'), "the table has no column `people`; it has ports, usr, response"),
        (("{ usr =", "{ user ="), "the table has no column `user`"),
        (("host.cpu.usr", "host.cpu.user"), r"docs/summary.md has no figure `host.cpu.user`"),
        (("#telnet", "#words"), r"its column `ports` has 'many', which is no number of users; name its `rows`"),
        (('users = "ports"', "rows = { six = { users = 5 } }"), r"the table has no row `six`; it has five, many"),
        (('"1ms"', '"fast"'), "expected a duration such as `1ms`, or a number, got 'fast'"),
    ],
)
def test_what_is_wrong_is_named(change: tuple[str, str], text: str, here: Path, write: Write) -> None:
    with pytest.raises(InputError, match=text):
        plan_of(here, write, ENTRY.replace(*change))


def test_a_table_that_no_step_repeats_is_refused(here: Path, write: Write) -> None:
    swept = 'isolate = true\n[sweep]\ntmux = ["off", "20ms"]\n'
    prepare(plan_of(here, write, f'{swept}{ENTRY}when = {{ tmux = "20ms", "host.threads" = "1" }}'))
    with pytest.raises(InputError, match=r"published table `5 cps results`: no step has tmux = 5ms") as raised:
        prepare(plan_of(here, write, f'{swept}{ENTRY}when = {{ tmux = "5ms" }}'))
    assert raised.value.remedy == "the first step has tmux = off"
