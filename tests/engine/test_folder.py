from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuesta.engine.folder import describe_run, new_folder, run_folder
from cuesta.engine.job import prepare
from cuesta.errors import CuestaError
from cuesta.plan import RawOptions, load


def test_a_run_that_cannot_start_leaves_nothing_behind(here: Path) -> None:
    with pytest.raises(CuestaError), run_folder(new_folder(here, "x")) as folder:
        (folder / "host").mkdir()
        raise CuestaError("no")
    with pytest.raises(CuestaError), run_folder(here / "a" / "b") as folder:
        (folder / "agent-0").mkdir()
        raise CuestaError("no")
    assert list(here.iterdir()) == []


def test_an_existing_folder_is_not_removed(here: Path) -> None:
    (here / "out").mkdir()
    with pytest.raises(CuestaError), run_folder(here / "out") as folder:
        (folder / "run.json").touch()
        raise CuestaError("no")
    assert [path.name for path in here.iterdir()] == ["out"]
    assert list((here / "out").iterdir()) == []


def test_records_stay_after_an_error(here: Path) -> None:
    with pytest.raises(CuestaError), run_folder(new_folder(here, "x")) as folder:
        (folder / "agent-0").mkdir()
        (folder / "agent-0" / "series.jsonl").write_text("{}\n")
        raise CuestaError("no")
    assert (folder / "agent-0").is_dir()


def test_an_unusable_folder_is_refused(here: Path) -> None:
    (here / "full").mkdir()
    (here / "full" / "x").touch()
    with pytest.raises(CuestaError, match="not empty"), run_folder(here / "full"):
        pytest.fail("it was taken")
    with (
        pytest.raises(CuestaError, match=r"cannot write a run folder there: not a directory"),
        run_folder(here / "full" / "x" / "y"),
    ):
        pytest.fail("it was taken")
    assert (here / "full" / "x").exists()


def test_folders_of_one_second_have_different_names(here: Path) -> None:
    with run_folder(new_folder(here, "x")) as first, run_folder(new_folder(here, "x")) as second:
        assert first != second
        assert first.name.startswith("x-")


def test_transactions_are_recorded_in_the_order_of_groups_and_tapes(here: Path) -> None:
    names = {"typists": ("write", "a pause", "save"), "clerks": ("look up",)}
    for group, of_group in names.items():
        rows = [f'Transaction "{name}"\n  Type "x"\n  Wait+Echo\nEnd\n' for name in of_group]
        (here / f"{group}.tape").write_text("".join(rows))
    groups = [f'[[group]]\nname = "{group}"\ntape = "{group}.tape"\n' for group in names]
    (here / "plan.toml").write_text("".join(groups))
    described = describe_run(prepare(load(RawOptions(plan=Path("plan.toml")), here)), datetime.now(UTC))
    assert list(described["transactions"].items()) == [(group, list(of_group)) for group, of_group in names.items()]
