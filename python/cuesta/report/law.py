"""The section on the consistency of the counts, by the interactive response-time law."""

from collections.abc import Iterator

from cuesta.analysis.law import agrees
from cuesta.figures.step import ResponseLaw, StepFigures
from cuesta.report.model import Rank, Remark, Section, Spare
from cuesta.units import digits, seconds, share


def law_section(step: StepFigures) -> Section:
    if step.law is None:
        why = list(map(Remark, explain_missing_law(step)))
        return Section(
            "Consistency of the counts", why, name="LAW", brief=[], spare=[Spare(Rank.LAW, each) for each in why]
        )
    result, terms = Remark(describe_law(step.law)), Remark(describe_law_terms(step.law), "faint")
    # A gap is on the first screen already: `headline.unusual_section`.
    first, more = ([result], [terms]) if agrees(step.law) else ([], [result, terms])
    return Section(
        "Consistency of the counts", first, more, name="LAW", brief=[], spare=[Spare(Rank.LAW, each) for each in first]
    )


def describe_law(law: ResponseLaw) -> str:
    if agrees(law):
        return "consistent: nothing was left uncounted"
    gap = f"{share(abs(law.error))} of a cycle, where chance makes ±{share(law.expected_gap)}"
    return f"INCONSISTENT: something was left uncounted, or counted twice: {gap}"


def describe_law_terms(law: ResponseLaw) -> str:
    terms = f"{digits(law.n)} ÷ {digits(law.x)}/s − {write_term(law.z)} − {write_term(law.k)}"
    return (
        f"users ÷ throughput − thinking − typing = {terms} = {seconds(law.r_predicted)}; "
        f"measured since sent: {seconds(law.r_measured)}: they differ by {share(abs(law.error))} of a cycle. "
        f"The edges of so short an interval make ±{share(law.expected_gap)} by themselves"
    )


def write_term(value: float) -> str:
    """A negative term stands in brackets."""
    return seconds(value) if value >= 0 else f"({seconds(value)})"


def explain_missing_law(step: StepFigures) -> Iterator[str]:
    if step.load != "closed":
        yield f"not checked: that needs a closed load, and this one is {step.load}"
