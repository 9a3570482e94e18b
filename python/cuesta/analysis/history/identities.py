"""Checks the identities of a typed document, and classifies the values that contradict them.

Every identity is computed from the values as printed. If it fails beyond rounding, the readings that were typed beside
its prints are tried; if none repairs it, the document has an error. `studies/history/misread.py` proposes readings.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from cuesta.analysis.history.formula import Formula, Value
from cuesta.analysis.history.transcript import Agreement, Evaluation, Transcript
from cuesta.analysis.quantity import Quantity, write_like
from cuesta.ledger.historical import Document


class FindingKind(StrEnum):
    ROUNDING = "rounding"
    """The last digit differs, by at most the rounding of the values that it was computed from."""
    MISREAD = "likely misread"
    """The reading that was typed beside it makes the identities agree."""
    ERROR = "arithmetic error"
    """The computation in the document is wrong; no typed reading repairs it."""
    CARRIED = "carries an error"
    """It was computed correctly from a wrong value."""
    CONTRADICTION = "contradiction"
    """Two statements of one thing differ."""
    IMPOSSIBLE = "impossible"
    """Beyond a bound, such as more than all of a resource. It must be rejected, not clipped."""
    UNREADABLE = "unreadable"
    """It is no number, and no typed reading is confirmed by the identities."""
    INCOMPLETE = "incomplete"
    """A row with fewer cells than the table has columns, or a cell torn in two."""


@dataclass(frozen=True, slots=True)
class Correction:
    """A reading that was typed beside a print, and that the identities confirm."""

    name: str
    reading: str
    repaired: tuple[Formula, ...]
    """Identities that fail as printed and hold with the reading; never empty."""


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    printed: str
    verdict: FindingKind
    computed: str | None = None
    """The value by the first identity of `against`, in the format of the print; a bound is `at most 100`."""
    reading: str | None = None
    """The typed reading that the identities confirm, or a torn cell joined."""
    against: tuple[str, ...] = ()
    """The identities that do not hold as printed."""
    support: tuple[str, ...] = ()
    """Identities that hold with the reading; without a reading, those that hold as printed."""
    why: str = ""
    """The typist's remark on the first of `against`."""
    page: str = ""


@dataclass(frozen=True, slots=True)
class DocumentCheck:
    document: Document
    findings: tuple[Finding, ...]
    identities: int
    """Identities that were computed."""
    hold: int
    """Identities that hold as printed."""
    rounding: int
    """Further identities that hold within rounding."""

    @property
    def unexplained(self) -> tuple[Finding, ...]:
        return tuple(each for each in self.findings if each.verdict is not FindingKind.ROUNDING)


BOUNDS = {"=": "", "<=": "at most ", ">=": "at least "}
"""Relations that give a value, and how they are written."""


def check_document(document: Document) -> DocumentCheck:
    """Compute every identity of a document. Raises InputError for an invalid formula."""
    transcript = Transcript.parse(document)
    before = [transcript.evaluate(formula).agreement for formula in transcript.formulas]
    read, corrections = accept_readings(transcript)
    findings = [
        *find_misreads(transcript, read, corrections),
        *find_unrepaired(read),
        *find_roundings(read),
        *find_torn_cells(document),
        *find_short_rows(document),
    ]
    order = {name: at for at, name in enumerate(document.prints)}
    findings.sort(key=lambda finding: order.get(finding.name, len(order)))
    remarked = tuple(
        replace(finding, why=transcript.whys.get(finding.against[0], finding.why)) if finding.against else finding
        for finding in findings
    )
    holding, rounding = before.count(Agreement.HOLDS), before.count(Agreement.ROUNDING)
    return DocumentCheck(document, remarked, len(before), holding, rounding)


def accept_readings(printed: Transcript) -> tuple[Transcript, list[Correction]]:
    """Accept the typed readings that make a failing identity agree and break none.

    One reading may need another: all are tried together, and those that repair nothing are rejected until none is.
    """
    typed = {name: each.reading for name, each in printed.document.prints.items() if each.reading}
    while True:
        read = replace(printed, texts=typed)
        corrections = list[Correction]()
        for name, reading in typed.items():
            without = read.read_as(name, printed.text(name))
            before = {formula: without.evaluate(formula) for formula in printed.formulas_with.get(name, ())}
            if repaired := without.list_repaired(read, before):
                corrections.append(Correction(name, reading, tuple(repaired)))
        confirmed = {each.name: each.reading for each in corrections}
        if confirmed == typed:
            return read, corrections
        typed = confirmed


def find_misreads(printed: Transcript, read: Transcript, corrections: Sequence[Correction]) -> Iterator[Finding]:
    for each in corrections:
        formulas = printed.formulas_with[each.name]
        against = [formula for formula in formulas if not printed.evaluate(formula).agrees]
        support = [formula for formula in formulas if read.evaluate(formula).agrees]
        yield Finding(
            each.name,
            printed.text(each.name),
            FindingKind.MISREAD,
            computed=compute_value(read, each.repaired[0], each.name),
            reading=each.reading,
            against=list_texts(against),
            support=list_texts(support),
            page=printed.print_of(each.name).page,
        )


def list_texts(formulas: Sequence[Formula]) -> tuple[str, ...]:
    return tuple(formula.text for formula in formulas)


def compute_value(transcript: Transcript, formula: Formula, name: str) -> str | None:
    """The value of a formula for a name; None if the formula is not about it."""
    evaluation = transcript.evaluate(formula)
    if formula.relation == "in" and evaluation.left != transcript.text(name).strip():
        return write_value(evaluation.left, "")
    if formula.left.names != (name,) or formula.relation not in BOUNDS:
        return None
    like = transcript.text(name) if name in transcript.document.prints else "0.00"
    value = write_value(evaluation.right, like)
    return value and BOUNDS[formula.relation] + value


def write_value(value: Value | None, like: str) -> str | None:
    """In the format of a print."""
    if isinstance(value, Quantity):
        return write_like(value.value, like)
    return value if isinstance(value, str) else None


def find_unrepaired(transcript: Transcript) -> Iterator[Finding]:
    """Values of failing formulas that no typed reading repairs."""
    failing = dict[str, list[tuple[Formula, Evaluation]]]()
    for formula in transcript.formulas:
        evaluation = transcript.evaluate(formula)
        if not evaluation.agrees:
            failing.setdefault(formula.names[0], []).append((formula, evaluation))
    for name, cases in failing.items():
        formula, evaluation = cases[0]
        printed = name in transcript.document.prints
        carried = is_carried(transcript, formula, failing)
        support = [own for own in transcript.formulas if name in own.names and transcript.evaluate(own).agrees]
        yield Finding(
            name,
            printed=transcript.print_of(name).text if printed else write_value(evaluation.left, "0.00") or "no number",
            verdict=FindingKind.CARRIED if carried else classify_value(formula, evaluation),
            computed=compute_value(transcript, formula, name),
            against=list_texts([case[0] for case in cases]),
            support=list_texts(support),
            page=transcript.print_of(name).page if printed else "",
        )


def classify_value(formula: Formula, evaluation: Evaluation) -> FindingKind:
    if evaluation.agreement is Agreement.UNREADABLE:
        return FindingKind.UNREADABLE
    if formula.relation in {"<=", ">="}:
        return FindingKind.IMPOSSIBLE
    if formula.right.is_name or not isinstance(evaluation.right, Quantity):
        return FindingKind.CONTRADICTION
    return FindingKind.ERROR


def is_carried(transcript: Transcript, formula: Formula, failing: dict[str, list[tuple[Formula, Evaluation]]]) -> bool:
    """Whether a value was computed correctly from a wrong one."""
    wanted = transcript.evaluate(formula).right
    if formula.relation != "=" or not isinstance(wanted, Quantity):
        return False
    for other in transcript.formulas:
        if other.left.names != formula.left.names[:1] or not transcript.evaluate(other).agrees:
            continue
        for name in set(other.right.names) & set(failing):
            right = compute_value(transcript, failing[name][0][0], name)
            repaired = transcript.read_as(name, right).evaluate(other).right if right else None
            if isinstance(repaired, Quantity) and wanted.may_be(repaired):
                return True
    return False


def find_roundings(transcript: Transcript) -> Iterator[Finding]:
    for formula in transcript.formulas:
        evaluation = transcript.evaluate(formula)
        if evaluation.agreement is not Agreement.ROUNDING:
            continue
        name = formula.names[0]
        printed = transcript.document.prints.get(name)
        yield Finding(
            name,
            transcript.text(name) if printed and formula.left.is_name else write_value(evaluation.left, "0.0") or "",
            FindingKind.ROUNDING,
            computed=write_value(evaluation.right, like=transcript.text(name) if printed else "0.00"),
            against=(formula.text,),
            page=printed.page if printed else "",
        )


def find_short_rows(document: Document) -> Iterator[Finding]:
    """Rows with fewer cells than columns, which may have shifted."""
    for row, (cells, columns) in document.short.items():
        printed = [each.text for name, each in document.prints.items() if name.rpartition(".")[0] == row]
        why = f"{cells} cells below {columns} columns: they may have shifted"
        yield Finding(row, " · ".join(printed), FindingKind.INCOMPLETE, why=why)


def find_torn_cells(document: Document) -> Iterator[Finding]:
    """Cells with an open bracket, joined to the next one if that closes it: the overlap of both is printed once."""
    cells = [(name, each) for name, each in document.prints.items() if count_open_brackets(each.text)]
    for at, (name, one) in enumerate(cells):
        if count_open_brackets(one.text) < 0:
            continue
        following = cells[at + 1][1].text if at + 1 < len(cells) else ""
        overlap = max(size for size in range(len(following) + 1) if one.text.endswith(following[:size]))
        yield Finding(
            name,
            one.text,
            FindingKind.INCOMPLETE,
            reading=one.text + following[overlap:] if count_open_brackets(following) < 0 else None,
            why="a bracket is open: the cell runs on into the next column",
            page=one.page,
        )


def count_open_brackets(text: str) -> int:
    return text.count("(") - text.count(")")
