"""Users who compute sums at a real shell, over any kind of line."""

from tests.busy import BUSY

TAPE = r"""
Set KeyRate 30cps
Set Echo timed
Set WaitTimeout 10s
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

PLAN = (
    """
name = "real"
tape = "shell.tape"
users = 5
stagger = "50ms"
settle = "1s"
measure = "4s"
"""
    + BUSY
)
