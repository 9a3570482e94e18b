"""Opening a certification folder: its contents, and errors for unreadable files."""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.errors import InputError
from cuesta.ledger.certification import hashes, open_certification
from cuesta.ledger.record import Record, schema

GIVEN: dict[str, Any] = {
    "format": 1,
    "kind": "certification",
    "cuesta": "0.1.0",
    "started": "2026-11-21T08:00:00Z",
    "command": ["cuesta", "certify", "plan.toml"],
    "system": "3.0.5",
    "plan": "certification",
    "group": "typewriter",
    "script": "Sleep 1s",
    "pause": 1.0,
    "pauses": 1.0,
    "runs": 5,
    "settings": {},
    "hardware": {},
    "factors": [],
    "comments": [],
    "reference": None,
}


def folder(here: Path, **changed: object) -> Path:
    (here / "certification.json").write_text(json.dumps({**GIVEN, **changed}))
    for name in ("run-1", "run-2", "run-10", "excluded/run-1", "settling/run-1"):
        run = here / name
        run.mkdir(parents=True)
        (run / "run.json").write_text("{}")
    return here


def test_runs_are_found_in_order_and_by_kind(here: Path) -> None:
    opened = open_certification(folder(here))
    assert [run.name for run in opened.runs] == ["run-1", "run-2", "run-10"]
    assert [run.parent.name for run in (*opened.excluded, *opened.settling)] == ["excluded", "settling"]
    assert opened.record is None


def test_raw_files_have_a_hash_and_derived_files_have_none(here: Path) -> None:
    folder(here)
    (here / "run-1" / "meters.jsonl").write_text("x")
    (here / "run-1" / "summary.json").write_text("{}")
    (here / "record.json").write_text('{"format": 1}')
    assert list(hashes(open_certification(here))) == [
        "certification.json",
        "excluded/run-1/run.json",
        "run-1/meters.jsonl",
        "run-1/run.json",
        "run-10/run.json",
        "run-2/run.json",
        "settling/run-1/run.json",
    ]


@pytest.mark.parametrize("file", ["certification.json", "record.json"])
def test_a_newer_format_is_refused_with_a_message(here: Path, file: str) -> None:
    folder(here)
    (here / file).write_text(json.dumps({**GIVEN, "format": 2, "cuesta": "9.1", "given": {"cuesta": "9.1"}, "new": 1}))
    with pytest.raises(InputError, match="is of format 2, and this cuesta reads up to 1") as refused:
        open_certification(here)
    assert "9.1" in str(refused.value.remedy)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"format": "x"}, "is of format x"),
        ({"format": True}, "is of format True"),
        ({"kind": "guess"}, "kind"),
        ({"pauses": "long"}, "pauses"),
        ({"more": 1}, "more"),
    ],
)
def test_a_malformed_folder_names_the_place(here: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        open_certification(folder(here, **changed))


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"format"', "\x00"])
def test_a_file_that_is_not_json_is_reported(here: Path, text: str) -> None:
    (here / "certification.json").write_text(text)
    with pytest.raises(InputError, match=r"certification\.json: cannot be read"):
        open_certification(here)


def test_a_folder_without_a_certification(here: Path) -> None:
    with pytest.raises(InputError, match=r"there is no certification\.json in it"):
        open_certification(here)


def test_the_schema_is_published() -> None:
    published = Path(__file__).parents[2] / "docs" / "record.schema.json"
    assert published.read_text() == schema() + "\n", "python -m cuesta.ledger.record > docs/record.schema.json"


def test_every_field_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "certify.md").read_text()
    assert [name for name in Record.model_fields if f"`{name}`" not in text] == []


def test_runs_made_for_one_figure_are_raw_as_well(here: Path) -> None:
    run = folder(here) / "traced" / "run-1"
    run.mkdir(parents=True)
    (run / "run.json").write_text("{}")
    opened = open_certification(here)
    assert {what: len(runs) for what, runs in opened.extra_runs.items()} == {"traced": 1, "linkage": 0, "control": 0}
    assert "traced/run-1/run.json" in hashes(opened)
