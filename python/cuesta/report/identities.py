"""Writes the findings about a typed document, as text and as data."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.cells import cell_len

from cuesta.analysis.history.identities import DocumentCheck, Finding, FindingKind
from cuesta.columns import align_left, wrap_text
from cuesta.ledger.historical import Document
from cuesta.units import many

WIDTH = 110
NAME = re.compile(r"[A-Za-z_][\w.]*")
MOST, SHORT = 4, 32
"""The most formulas of a finding, and the most characters of one, that are shown; `data` has all."""


def text(checked: DocumentCheck) -> str:
    """A row for each finding, and below it why and by which identities."""
    return "\n".join(_rows(checked))


def data(checked: DocumentCheck) -> dict[str, Any]:
    document = checked.document
    return {
        "file": str(document.file) if document.file else None,
        "title": document.title,
        "source": document.source,
        "identities": checked.identities,
        "hold": checked.hold,
        "rounding": checked.rounding,
        "findings": [{**asdict(each), "verdict": each.verdict.value} for each in checked.findings],
    }


def count_identities(checked: DocumentCheck) -> str:
    fail = checked.identities - checked.hold - checked.rounding
    because = f", for the {many(len(checked.unexplained), 'finding')} above" if fail and checked.unexplained else ""
    return (
        f"{many(checked.identities, 'value')} computed: {checked.hold} agree with the print, {checked.rounding} within "
        f"rounding, {fail} do not{because}. Nothing was rewritten."
    )


def _rows(checked: DocumentCheck) -> Iterator[str]:
    yield checked.document.title
    if checked.document.source:
        yield checked.document.source
    yield ""
    width = max((cell_len(each.name) for each in checked.unexplained), default=0)
    for each in checked.unexplained:
        yield f"{align_left(each.verdict.value.upper(), 16)}  {align_left(each.name, width)}  {_describe_value(each)}"
        yield from _list_reasons(each, checked.document)
    if checked.unexplained:
        yield ""
    yield from _list_rounded(checked)
    yield count_identities(checked)


def _describe_value(finding: Finding) -> str:
    if finding.reading:
        return f"printed {finding.printed}, reads as {finding.reading}"
    can_be = "can be" if finding.verdict is FindingKind.IMPOSSIBLE else "computed"
    return f"printed {finding.printed}" + (f", {can_be} {finding.computed}" if finding.computed else "")


def _list_reasons(finding: Finding, document: Document) -> Iterator[str]:
    """The reasons: the typist's remark, and the identities that fail, or those that hold with the reading."""
    yield from _wrap(finding.why)
    if finding.reading and finding.support:
        agree = "it agrees" if len(finding.support) == 1 else f"all {len(finding.support)} agree"
        yield from _wrap(f"with {finding.reading} {agree}:")
        yield from _list_formulas(finding.support, document)
    elif finding.against:
        yield from _list_formulas(finding.against, document)
        if finding.support:
            yield from _wrap("as printed it does hold in:")
            yield from _list_formulas(finding.support, document)


def _list_rounded(checked: DocumentCheck) -> Iterator[str]:
    rounded = [values for values in checked.findings if values.verdict is FindingKind.ROUNDING]
    if rounded:
        values = ", ".join(f"{_name_briefly(one)} {one.printed} ({one.computed})" for one in rounded)
        yield from _wrap(f"within rounding (computed): {values}", "", "  ")
        yield ""


def _name_briefly(finding: Finding) -> str:
    """The value's name; or the beginning of the identity, if it is not about one value."""
    formula = finding.against[0]
    return finding.name if formula.startswith(f"{finding.name} ") else f"[{formula[:SHORT]}…]"


def _list_formulas(formulas: tuple[str, ...], document: Document) -> Iterator[str]:
    for formula in formulas[:MOST]:
        yield from _wrap(formula, "      ", "        ")
        for name in dict.fromkeys(NAME.findall(formula)):
            if name in document.derived:
                yield from _wrap(f"where {name} = {document.derived[name]}", "        ", "          ")
    if len(formulas) > MOST:
        yield f"      and {len(formulas) - MOST} more"


def _wrap(sentence: str, first: str = "    ", then: str = "      ") -> Iterator[str]:
    yield from wrap_text(sentence, WIDTH, first, then)
