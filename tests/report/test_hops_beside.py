"""Tables that have the hops of several steps, or of several groups, side by side."""

from pathlib import Path

import pytest

from cuesta.analysis.path.growth import find_longest_part, find_slow_band
from cuesta.analysis.summary import Summary, summarise
from cuesta.report.hops_beside import compare_steps, draw_steps, write_longest
from cuesta.report.model import Table
from cuesta.report.run_report import build_report, text
from tests.followed import Line, at_shell, hop, write_lines
from tests.run_folder import RunFolder, edit_run

SLEEP = hop("sleeping", "sshd", 1000.0, call="flock", other="git")


def make_sweep(folder: Path) -> Summary:
    """A step alone, whose slow keys sleep, and one beside `make`, whose keys wait for a CPU as well."""
    run = RunFolder(folder, users=(4, 4), settle=2, measure=10).write()
    with edit_run(run) as recorded:
        for step, hogs in zip(recorded["steps"], ("hogs/alone.csv", "hogs/compile.csv"), strict=True):
            step["swept"] = {"group.hogs.data": hogs}
    line = Line()
    for number in range(240):
        waits = 7.0 if number < 120 else 600.0 + number
        line.type(0.05 + number / 10, at_shell(SLEEP, run_queue=waits, other="make"))
    return summarise(write_lines(run, [line]))


def table_of(summary: Summary) -> Table:
    (table,) = compare_steps(summary)
    assert isinstance(table, Table)
    return table


def test_a_step_tells_what_is_longer_than_in_the_first_and_by_how_much(tmp_path: Path) -> None:
    first, second = table_of(make_sweep(tmp_path / "run")).rows
    assert first[:2] == ["1", "alone.csv"]
    assert first[-1] == "1.00 ms sshd waiting in flock for `git`"
    waiting, _, more = str(second[-1]).partition(" sshd waiting for a CPU that `make` has, ")
    assert waiting.endswith(" µs")
    assert more.endswith(" µs more")
    assert 800 < float(waiting.split()[0]) < 850
    assert float(waiting.split()[0]) - float(more.split()[0]) == 10  # of the first step: 7 and 3 µs


def test_each_kind_of_hop_has_a_column_of_the_page(tmp_path: Path) -> None:
    table = table_of(make_sweep(tmp_path / "run"))
    heads = [str(getattr(each, "text", each)) for each in table.heads]
    assert heads[:2] + heads[-1:] == ["step", "hogs.data", "the hop that pays"]
    wide = ["waiting for a CPU", "on a CPU", "terminal's worker", "sleeping", "network and client"]
    assert [heads[place] for place in table.wide] == wide
    assert [row[heads.index("sleeping")] for row in table.rows] == ["1.00 ms"] * 2


def test_the_plot_has_a_bar_for_each_step_in_seconds(tmp_path: Path) -> None:
    summary = make_sweep(tmp_path / "run")
    (plot,) = draw_steps(summary)
    (bars,) = (layer["data"]["values"] for layer in plot.spec["layer"])
    ends = {name: max(row["x2"] for row in bars if row["y"] == name) for name in ("1: alone.csv", "2: compile.csv")}
    bands = [find_slow_band(step.echo.path) for step in summary.steps]
    assert list(ends.values()) == [pytest.approx(band.seconds) for band in bands if band]


def test_the_table_fits_a_screen(tmp_path: Path) -> None:
    shown = text(make_sweep(tmp_path / "run"), colour=False).splitlines()
    place = next(number for number, row in enumerate(shown) if "the hop that pays" in row)
    end = next(number for number, row in enumerate(shown) if row.startswith("RUN FOLDER"))  # its path may be long
    rows = shown[place:end]
    assert "alone.csv" in "".join(rows)
    assert max(map(len, rows)) <= 80


def test_without_paths_of_two_steps_there_is_no_table(tmp_path: Path) -> None:
    assert not list(compare_steps(summarise(RunFolder(tmp_path / "run", users=(2, 4)).write())))


def test_a_step_in_which_nothing_is_longer_says_so(tmp_path: Path) -> None:
    bands = [band for step in make_sweep(tmp_path / "run").steps if (band := find_slow_band(step.echo.path))]
    quick, slow = bands
    assert write_longest(quick, slow) == write_longest(slow, slow) == "none"
    assert find_longest_part(slow, slow)[1] == 0


def test_groups_that_are_followed_have_a_row_each(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run", measure=10).write()
    lines = [Line(port=20_000 + number, user=number, group=group) for number, group in enumerate(("agents", "people"))]
    for number in range(80):
        for line in lines:
            slow = 900.0 if line.group == "agents" else 5.0
            line.type(2.5 + number / 10, at_shell(SLEEP, run_queue=slow, other="make"))
    summary = summarise(write_lines(run, lines))
    path = summary.last.echo.path
    assert path
    assert path.groups
    assert sum(group.keys for group in path.groups.values()) == path.keys
    report = build_report(summary)
    tables = [part for section in report.sections for part in section.parts if isinstance(part, Table)]
    rows = next(table.rows for table in tables if table.heads[0] == "group")
    assert [(row[0], row[-1]) for row in rows] == [
        ("agents", "1.00 ms sshd waiting in flock for `git`"),
        ("people", "1.00 ms sshd waiting in flock for `git`"),
    ]


def test_a_run_of_one_group_has_no_row_for_it(tmp_path: Path) -> None:
    path = make_sweep(tmp_path / "run").last.echo.path
    assert path
    assert path.groups is None
