"""Users who compute sums at a real shell, over any kind of line, until a test has seen enough."""

from tests.busy import BUSY
from tests.enough import LIMIT

USERS = 5
TAPE = r"""
Set KeyRate 30cps
Set Echo timed
Wait /\$ $/
Forever
  Transaction "arithmetic"
    Type "echo $((6*7))"
    Enter
    Wait+Prompt
  End
  Expect /(?m)^42$/
  Think uniform 100ms 300ms
End
"""
KEYS = len("echo $((6*7))\r")
"""Of a sum."""

PLAN = (
    f"""
name = "real"
tape = "shell.tape"
users = {USERS}
stagger = "50ms"
settle = "1s"
measure = "{LIMIT}"
"""
    + BUSY
)
