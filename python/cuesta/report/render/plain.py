"""The door to every rendering: a report whose texts, of whatever origin, are plain."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from cuesta.plain_text import plain, plain_rows
from cuesta.report.model import Listing, Report


def make_plain(report: Report) -> Report:
    """The same report, without characters that could control a terminal. Only listings have rows and tabs."""
    cleaned: Report = _clean(report)
    return cleaned


def _clean(element: Any) -> Any:
    """An element of a report with all its texts plain. Paths stay as they are: they name files."""
    match element:
        case str():
            return plain(element)
        case Listing(text):
            return Listing(plain_rows(text))
        case Mapping():
            return {_clean(name): _clean(value) for name, value in element.items()}
        case list() | tuple():
            return type(element)(map(_clean, element))
    if is_dataclass(element) and not isinstance(element, type):
        return replace(element, **{each.name: _clean(getattr(element, each.name)) for each in fields(element)})
    return element
