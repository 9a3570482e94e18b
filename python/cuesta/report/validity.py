"""Whether a run can be trusted and was complete, with the reasons."""

from cuesta.analysis.doubts.phrases import name_agent
from cuesta.analysis.summary import Summary
from cuesta.ledger.run_folder import Agent
from cuesta.report.model import Verdict
from cuesta.units import count, seconds

AT_ONCE = 1.5
"""Seconds within which agents that ended together recorded their last row: rows are a second long."""


def judge_run(summary: Summary) -> Verdict:
    early = [ending] if (ending := describe_ending(summary)) else []
    if summary.valid:
        return Verdict("VALID", describe_punctuality(summary), True, list_doubts(summary), early)
    return Verdict("INVALID", "do not rely on the figures below", False, list_doubts(summary), early, reasons_last=True)


def describe_punctuality(summary: Summary) -> str:
    """How punctual the driver was, except in steps of a search that are in doubt."""
    in_doubt = {doubted.step for doubted in summary.doubts}
    steps = [step for step in summary.steps if step.step not in in_doubt]
    late = [step.lateness.p99 for step in steps if step.lateness.p99 is not None]
    due = [step.due for step in steps if step.due and step.due.never_begun]
    keys = f"the driver kept up: 99 % of keys sent at most {seconds(max(late))} late" if late else ""
    never = sum(each.never_begun for each in due)
    begun = f"{count(never)} of {count(sum(each.count for each in due))} that were due were never begun" if due else ""
    return "; ".join(filter(None, (keys, begun))) or "nothing raised a doubt"


def list_doubts(summary: Summary) -> list[tuple[str, str]]:
    """The doubts that make a run INVALID, each with its advice; a piece of advice appears once."""
    texts = [(str(doubted), doubted.doubt.advice) for doubted in summary.invalidating]
    given = [advice for _, advice in texts]
    return [(text, "" if advice in given[:index] else advice) for index, (text, advice) in enumerate(texts)]


def join_advice(doubt: tuple[str, str]) -> str:
    return " → ".join(filter(None, doubt))


def name_ending(summary: Summary) -> str:
    """Why a run is incomplete, in a word or two; empty for a complete one."""
    words = {"completed": "", "failed": "the driver failed", "cut off": "the record breaks off"}
    return words.get(summary.ended, summary.ended)


def describe_ending(summary: Summary) -> str:
    """How far an incomplete run got; empty for a complete one."""
    if not (word := name_ending(summary)):
        return ""
    recorded = summary.recorded
    until = max(map(recorded_until, recorded.agents), default=0.0)
    if not until:
        return f"{word}: nothing was recorded"
    together = [each for each in recorded.agents if each.folder.parent == recorded.agents[-1].folder.parent]
    earliest = min(together, key=recorded_until)
    first, node = recorded_until(earliest), earliest.notes.node
    # A search plans a trial at a time, so that its end was never planned.
    planned = None if summary.search else max((step.end for step in recorded.steps.values()), default=None)
    planned_part = f" of {seconds(planned)} planned" if planned else ""
    if until - first > AT_ONCE:
        one = name_agent(earliest.number, node) if node else "one agent"
        how_far = f"{seconds(first)} by {one} and {seconds(until)} by another{planned_part and ','}{planned_part}"
        return f"{word}: recorded are {how_far}; below is what each measured until then"
    return f"{word}: recorded are {seconds(until)}{planned_part}; below is what was measured until then"


def recorded_until(agent: Agent) -> float:
    """The end of what an agent recorded, in seconds of the run."""
    return max((row.start + row.length for row in agent.intervals), default=0.0)
