"""Documents made from the catalogue: docs/summary.md, and the schema of `summary.json`, which a real run matches."""

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from cuesta.analysis.summary import summarise
from cuesta.figures.document import TABLES, markdown, schema
from cuesta.figures.step import StepFigures
from cuesta.figures.whole_run import RunFigures
from cuesta.marked_tables import renew
from tests.run_folder import RunFolder

DOCS = Path(__file__).parents[2] / "docs"
RENEW = "renew it: ./scripts/docs"


def test_the_page_holds_the_catalogue() -> None:
    text = (DOCS / "summary.md").read_text(encoding="utf-8")
    assert renew(text, {name: markdown(table) for name, table in TABLES.items()}) == text, RENEW
    assert "| `host.cpu.usr` | percent |" in text


def test_the_schema_is_that_of_the_catalogue() -> None:
    assert (DOCS / "summary.schema.json").read_text(encoding="utf-8") == schema(), RENEW
    described = json.loads(schema())
    assert described["properties"]["stray"]["unit"] == "count"
    assert {"valid", "steps", "response", "host"} <= {*described["required"]}


def test_the_object_matches_the_schema(tmp_path: Path) -> None:
    found = json.loads(json.dumps(summarise(RunFolder(tmp_path / "run", limits=["response.p99 < 1s"]).write()).json()))
    TypeAdapter(RunFigures).validate_python(found)
    TypeAdapter(StepFigures).validate_python(found)
    assert found["limits"][0]["step"] == 0
    del found["steps"][0]["response"]
    with pytest.raises(ValidationError, match="response"):
        TypeAdapter(RunFigures).validate_python(found)
