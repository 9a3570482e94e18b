import pytest

from cuesta import _native
from cuesta.errors import InputError
from cuesta.workflow.loop_tape import loop_tape

SESSION = """# recorded
Set KeyRate 7.1cps
Set Prompt /^\\$ ?$/
Wait+Prompt
Transaction "password"
  Set Echo timed
  Type "login"
  Enter
  Type "${password}"
  Enter
  Wait+Prompt
End
Think 157ms
Transaction "vi"
  Type "vi"
  Set Echo screen
  Enter
  Wait+Silence 200ms
End
Think 53ms
Transaction "exit"
  Type "exit"
  Enter
  Wait+Disconnect
End
"""

WORK = """Set KeyLaw human
Forever
  Set Echo timed
  Think exp 157ms
  Transaction "vi"
    Type "vi"
    Set Echo screen
    Enter
    Wait+Silence 200ms
  End
  Think exp 53ms
End
"""


def test_users_log_in_once_and_stay() -> None:
    tape = loop_tape(SESSION)
    assert tape == SESSION.partition("Think")[0] + WORK
    assert _native.Tape.parse(tape, "looped.tape", ".").transactions() == ["password", "vi"]


def test_a_session_without_work_cannot_be_repeated() -> None:
    with pytest.raises(InputError, match="between login and logout"):
        loop_tape(SESSION.partition('Transaction "vi"')[0])
