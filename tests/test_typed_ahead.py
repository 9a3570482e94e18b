"""Rows typed before the first is answered: a shell prompts for each, and the last prompt is the answer."""

import pytest

from cuesta.errors import Exit
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.enough import LIMIT, ended_after

TAPE = r"""
Set KeyRate {rate}
Set Echo {echo}
Set Prompt /\$ $/
Wait+Prompt
Forever
  Transaction "two"
    Type "sleep 1.2"
    Enter
    {pause}
    Type "sleep 0.4"
    Enter
    {wait}
  End
  Think 100ms
End
"""
BEFORE_THE_PROMPT = r"""
Set KeyRate 0
Set Prompt /\$ $/
Forever
  Transaction "one"
    Type "sleep 0.4"
    Enter
    Wait+Prompt
  End
  Type "exit"
  Enter
  Wait+Disconnect
End
"""
SHELL = "pty:env PS1='me$ ' bash --norc --noprofile -i"


@pytest.mark.parametrize(
    ("rate", "pause", "echo", "wait", "least"),
    [
        ("0", "", "off", "Wait+Prompt", 1.6),
        # The last Return is sent half a second after the first.
        ("20cps", "", "off", "Wait+Prompt", 1.05),
        # The last Return is sent 0.8 s after the first. Whether the terminal or bash echoes a key that comes while bash
        # hands the terminal over is chance; so none comes then.
        ("20cps", "Think 300ms", "timed", "Wait+Line /\\$ $/", 0.75),
        ("20cps", "Think 300ms", "screen", "Wait+Screen /\\$ $/", 0.75),
    ],
)
def test_the_prompt_of_an_earlier_row_is_not_an_answer(
    write: Write, cuesta: Cuesta, rate: str, pause: str, echo: str, wait: str, least: float
) -> None:
    write("typed.tape", TAPE.format(rate=rate, pause=pause, echo=echo, wait=wait))
    assert shortest(write, cuesta) > least


def test_the_first_prompt_is_not_an_answer_to_an_earlier_row(write: Write, cuesta: Cuesta) -> None:
    write("typed.tape", BEFORE_THE_PROMPT)
    assert shortest(write, cuesta) > 0.4


def shortest(write: Write, cuesta: Cuesta) -> float:
    """The shortest of some responses to a row that sleeps."""
    write("plan.toml", f'tape = "typed.tape"\nusers = 3\nsettle = 0\nmeasure = "{LIMIT}"\n' + BUSY)
    with ended_after(6):
        run = cuesta("run", "plan.toml", "--target", SHELL, "--out", "out", "--quiet", "--json", "-")
    summary = run.ends(Exit.INTERRUPTED).json
    assert summary["invalid_because"] == []
    response = next(each["response"] for each in summary["classes"] if each["transaction"] in {"one", "two"})
    assert response["count"] >= 3
    return float(response["min"])
