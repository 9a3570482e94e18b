"""docs/ledger.md has every table and column."""

from pathlib import Path

from cuesta.ledger.document import renew_document

PAGE = Path(__file__).parents[2] / "docs" / "ledger.md"


def test_the_page_is_as_it_is_made() -> None:
    text = PAGE.read_text()
    assert renew_document(text) == text, "renew it: ./scripts/docs"
