"""The phases and pauses that a certification reads from a tape."""

import json
from pathlib import Path

from cuesta import _native
from cuesta.analysis.certify.phases import read_script

TAPE = """
Set Prompt /[$] $/
Transaction "process creation"
  Enter
  Wait+Prompt
End
Barrier "created"
Sleep 1500ms
Type "date"
Enter
Wait+Prompt
Sleep 250ms
Sleep 60m
"""


def test_a_script_defines_its_phases() -> None:
    script = read_script(_native.Tape.parse(TAPE, "t", "."))
    assert (script.creates, script.pause, script.pauses) == (True, 1.5, 1.75)
    assert "process creation" in script.listing


def test_a_script_without_barrier_has_no_pause() -> None:
    script = read_script(_native.Tape.parse("Sleep 1s\nType a\nWait+Silence 1s", "t", "."))
    assert (script.creates, script.pause, script.pauses) == (False, None, 1.0)


def test_the_tapes_of_the_study_have_phases_and_pauses() -> None:
    study = Path(__file__).parents[3] / "studies" / "certification"
    for name in ("cert", "cert-full"):
        text = (study / f"{name}.tape").read_text()
        script = read_script(_native.Tape.parse(text, name, str(study)))
        assert script.creates
        assert script.pause is not None
        assert script.pause >= 0.5
        assert json.dumps(script.listing).count("Transaction") >= 11
