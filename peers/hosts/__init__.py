"""The hosts at which the tools are played.

host      what a host is to this program
builtin   Cuesta's built-in host
sshd      OpenSSH's sshd, with keys and settings of its own
"""

from peers.hosts.builtin import builtin
from peers.hosts.host import ANSWER, INPUT, Host, Mark, Start, Work
from peers.hosts.sshd import sshd

__all__ = ["ANSWER", "INPUT", "Host", "Mark", "Start", "Work", "builtin", "sshd"]
