"""Hosts that mislead about answers and echoes: what Cuesta says of them is held against their own log.

Instants are compared as medians with margins much smaller than what the host misleads by.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from cuesta.cli import main
from tests.busy import BUSY
from tests.conftest import Write
from tests.hosts import answers_before_echo, commands, echoes_in_escapes, echoes_late, paints_decoys
from tests.hosts.lines import LINES, host
from tests.hosts.log import Log

MARGIN = 0.1
"""Seconds by which a busy machine may move a median."""

TAPE = r"""
Set KeyRate 10cps
Set Echo {echo}
Wait@30s /\$ $/
Forever
  Transaction "command"
    Type "echo DONE"
    Enter
    {wait}
  End
  Think uniform 400ms 800ms
End
"""

PLAN = (
    """
name = "liars"
tape = "command.tape"
users = 3
stagger = "100ms"
settle = "4s"
measure = "9s"
"""
    + BUSY
)


@pytest.fixture(params=["pty", "tcp"])
def play(request: pytest.FixtureRequest, here: Path, write: Write, capsys: pytest.CaptureFixture[str]) -> Any:
    """Play a wait at a host over a line: what Cuesta says, and what the host does."""

    def of(name: str, wait: str = "Wait+Screen /DONE/", echo: str = "timed") -> tuple[dict[str, Any], Log]:
        log = here / "host.log"
        write("command.tape", TAPE.format(wait=wait, echo=echo))
        write("plan.toml", PLAN)
        with LINES[request.param](host(name, log), here) as target:
            main(["run", "plan.toml", "--out", "out", "--quiet", "--json", "-", "--target", target])
        return json.loads(capsys.readouterr().out), Log.read(log)

    return of


WAITS = ["Wait+Screen /DONE/", "Wait+Line /DONE/", r"Wait+Screen /\$ $/", "Wait+Prompt"]


def holds(summary: dict[str, Any], log: Log) -> None:
    """Assert that the response is what the host says, and that nothing was missed."""
    assert summary["transactions"]["count"] >= 6
    assert "timeout" not in summary["errors"]["by_name"]
    # Cuesta's histograms have three digits, and its median may be another of few values.
    assert log.response * 0.99 <= summary["response"]["p50"] < log.response + MARGIN


@pytest.mark.parametrize("wait", [WAITS[0], *WAITS[2:]])
def test_a_late_echo_is_no_answer(play: Any, wait: str) -> None:
    summary, log = play("echoes_late", wait)
    holds(summary, log)
    assert summary["response"]["min"] > echoes_late.ANSWER * 0.9
    assert log.echo <= summary["echo"]["p50"] < log.echo + MARGIN
    assert summary["echo"]["min"] > echoes_late.LAG * 0.9


def test_a_key_is_not_found_in_a_control_function(play: Any) -> None:
    summary, log = play("echoes_in_escapes")
    holds(summary, log)
    # All but the Returns are shown a while after the control functions.
    assert summary["echo"]["p50"] > echoes_in_escapes.SHOWN * 0.9
    assert log.echo <= summary["echo"]["p50"] < log.echo + MARGIN
    assert summary["errors"]["count"] == 0


@pytest.mark.parametrize("echo", ["timed", "screen", "off"])
def test_a_host_that_never_echoes_is_timed_by_its_answers(play: Any, echo: str) -> None:
    summary, log = play("never_echoes", echo=echo)
    holds(summary, log)
    if echo == "timed":
        # The Return that the answer begins with is an echo of its own; what was typed before it is none.
        assert summary["errors"]["by_name"]["unechoed"] >= 9 * 6
    else:
        assert summary["echo"]["count"] == 0


@pytest.mark.parametrize("wait", WAITS[:1])
def test_a_second_echo_is_no_answer(play: Any, wait: str) -> None:
    summary, log = play("echoes_twice", wait)
    holds(summary, log)
    assert summary["response"]["min"] > commands.ANSWER * 0.9
    assert summary["errors"]["count"] == 0


def test_an_answer_before_the_echo_keeps_its_instant(play: Any) -> None:
    # Timed on the stream, the row's end before the answer would be the Return's echo, and the keys before it given up.
    summary, log = play("answers_before_echo", echo="screen")
    holds(summary, log)
    assert summary["response"]["p50"] < commands.ANSWER + answers_before_echo.ECHO
    assert summary["response"]["min"] > commands.ANSWER * 0.9
    assert summary["errors"]["count"] == 0


def test_a_decoy_elsewhere_is_no_echo(play: Any) -> None:
    summary, log = play("paints_decoys", echo="screen")
    holds(summary, log)
    assert summary["echo"]["min"] > paints_decoys.ECHO * 0.9
    assert log.echo <= summary["echo"]["p50"] < log.echo + MARGIN
    assert summary["errors"]["count"] == 0


@pytest.mark.parametrize("rate", ["10cps", "0"])
def test_a_real_shell_is_timed_by_its_answer(
    rate: str, here: Path, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    tape = f"""
Set KeyRate {rate}
Forever
  Transaction "command"
    Type "sleep 1; echo DONE"
    Enter
    Wait+Screen /DONE/
  End
  Think uniform 200ms 400ms
End
"""
    write("command.tape", tape)
    write("plan.toml", PLAN)
    target = "pty:env PS1='$ ' bash --norc --noprofile -i"
    main(["run", "plan.toml", "--out", "out", "--quiet", "--json", "-", "--target", target])
    summary = json.loads(capsys.readouterr().out)
    assert summary["transactions"]["count"] >= 6
    assert summary["errors"]["count"] == 0
    assert 1.0 <= summary["response"]["min"] <= summary["response"]["p50"] < 1.0 + 2 * MARGIN
