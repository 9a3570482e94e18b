"""A plan whose users type rows at instants that are fixed before, so that engines can be compared."""

from tests.busy import BUSY

PLAN = (
    """
tape = "row.tape"
users = 5
stagger = "90ms"
settle = "1500ms"
measure = "2s"
line_speed = 0
load = "paced:700ms"
log_transactions = true
meters = "none"
"""
    + BUSY
)
TAPE = """
Set KeyRate 20cps
Transaction "row"
  Type "abc"
  Enter
  Wait+Bytes 150
End
"""
