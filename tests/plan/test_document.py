from pathlib import Path

from cuesta.plan.document import KEYWORDS, TABLES, keywords_module, renew_document

DOCUMENT = Path(__file__).parents[2] / "docs" / "plan.md"


def test_the_document_holds_the_schema() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert renew_document(text) == text, "renew it: ./scripts/docs"
    assert all(
        f"| `{name}` |" in text
        for model in TABLES.values()
        for name, field in model.model_fields.items()
        if field.description
    )


def test_the_keywords_are_those_of_the_schema() -> None:
    written = KEYWORDS.read_text(encoding="utf-8").replace("\n", " ").split()
    assert written == keywords_module().replace("\n", " ").split(), "renew them: ./scripts/docs"
