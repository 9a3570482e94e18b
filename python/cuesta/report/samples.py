"""A sample of each kind of failed wait, with the screen; and users whose waits never ended."""

from collections.abc import Iterator
from pathlib import Path

from cuesta import _native
from cuesta.analysis.summary import Summary
from cuesta.analysis.waits import is_stuck
from cuesta.figures.counts import describe_wait
from cuesta.records.rows import WaitSample
from cuesta.report.model import Part, Remark, Screen, Section
from cuesta.units import many, seconds

LOOPS = ("Forever", "Repeat")
TYPES_NOTHING = ("Set", "Env", "Require", "Output", "Hide", "Show", "Sleep", "Think", "Transaction", "End")
"""Words of a tape that send no key."""
SHOWN = 3
"""Rows of a screen on a first screen: the last ones."""


def sections(summary: Summary) -> Iterator[Section]:
    """A sample of each kind of failed wait in the last step."""
    samples = dict(summary.last.samples)
    if not any(describe_stuck_users(summary)):
        samples.pop("unfinished", None)
    if not samples:
        return
    parts, more = list[Part](), list[Part]()
    for kind, sample in samples.items():
        rows = sample.screen[-SHOWN:]
        parts += [Remark(_describe_sample(kind, sample)), *([Screen(rows)] if rows else [])]
        if len(sample.screen) > SHOWN:
            more += [Remark(f"{kind}: the whole screen", "faint"), Screen(sample.screen)]
    yield Section("What was waited for, and what the screen showed", parts, more, "SEEN")


def _describe_sample(kind: str, sample: WaitSample) -> str:
    wait = describe_wait(sample)
    showed = "the screen showed" if sample.screen else "nothing had come"
    if kind == "continued":
        seemed = f" at the row `{sample.row}`" if sample.row else ""
        return f"{kind}: {wait} was met{seemed}, and output went on for {seconds(sample.seconds)}; then {showed}"
    waited = f" for {seconds(sample.seconds)}" if sample.seconds else ""
    return f"{kind}: {wait}{waited}; {showed}"


def describe_stuck_users(summary: Summary) -> Iterator[str]:
    """Users who had waited far longer than any answer took at the end of the last step."""
    step = summary.last
    longest = step.response.longest or 0.0
    rows = [row for agent in summary.recorded.agents for row in agent.users if row.step == step.step]
    waited: dict[str, list[float]] = {}
    for row in rows:
        if row.waits and is_stuck(row.waited, longest):
            waited.setdefault(row.waits, []).append(row.waited)
    for what, times in waited.items():
        # A `prompt` is whatever a Wait without a key before it is for, such as a text anywhere on the screen.
        at_wait = f"at a {name_wait(summary.recorded.folder)} of the tape with no key before it"
        wanted = at_wait if what == "prompt" else f"for an {what}"
        yield f"{many(len(times), 'user')} had waited up to {seconds(max(times))} {wanted}, in vain"


def name_wait(folder: Path) -> str:
    """The only kind of wait in the tapes that follows no key, such as `Wait+Screen`; `Wait` if several."""
    place = folder / "tapes"
    try:
        tapes = [_native.Tape.parse(tape.read_text("utf-8"), "", str(place)) for tape in place.glob("*.tape")]
    except (OSError, ValueError, _native.TapeError):
        return "Wait"
    kinds = set[str]()
    for tape in tapes:
        typed = False
        for word, _ in tape.outline():
            if word == "Source":
                return "Wait"
            if word.startswith("Wait") and not typed:
                kinds.add(word)
            # A loop begins again after its last wait.
            typed = word not in LOOPS and not word.startswith("Wait") and (typed or word not in TYPES_NOTHING)
    return kinds.pop() if len(kinds) == 1 else "Wait"
