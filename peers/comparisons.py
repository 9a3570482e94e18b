"""Which tools are played at what. A tool stands only where it can do the work as its users would write it."""

from dataclasses import dataclass

from peers.hosts import Work, builtin, sshd
from peers.job import Tool
from peers.measure import Load
from peers.tools import Cuesta, Expect, Locust, SshLoop, Tsung

TOOLS: list[Tool] = [Cuesta(), Tsung(), Locust(), Expect(), SshLoop(), SshLoop(shared=True)]
CUESTA, TSUNG, LOCUST, EXPECT, LOOP, SHARED = TOOLS
ABSENT = {
    "k6": "load of web services, written in JavaScript. Not measured: it has neither TCP nor ssh of its own, and an "
    "extension for them would be built into k6, which is under the AGPL",
}
"""Tools that are not played, and why."""


@dataclass(frozen=True)
class Comparison:
    title: str
    load: Load
    tools: list[Tool]
    fewer: int | None = None
    """Users of the other run, if the memory of a user is measured: the growth from these to those of the load."""


COSTS = [
    Comparison("keys over tcp, 1,000 typists", Load(Work.KEYS, builtin, 1000, 0.2, 4), [CUESTA, TSUNG, LOCUST], 100),
    Comparison("keys over tcp, 40 typists", Load(Work.KEYS, builtin, 40, 0.2, 1), [CUESTA, EXPECT], 10),
    Comparison("keys over ssh, 40 typists", Load(Work.KEYS, sshd, 40, 0.2, 5), [CUESTA, EXPECT], 10),
    Comparison(
        "transactions over tcp, 96 users", Load(Work.TRANSACTIONS, builtin, 96, 0, 1), [CUESTA, TSUNG, LOCUST, EXPECT]
    ),
    Comparison("transactions over ssh, 20 users who stay", Load(Work.TRANSACTIONS, sshd, 20, 0, 3), [CUESTA, EXPECT]),
    Comparison(
        "transactions over ssh, 20 users, a login for each",
        Load(Work.LOGINS, sshd, 20, 0, 1),
        [CUESTA, LOOP, SHARED],
        5,
    ),
]
STALLS = [
    Comparison(
        "stall, keys over tcp, 100 typists", Load(Work.KEYS, builtin, 100, 0.2, 1), [CUESTA, TSUNG, LOCUST, EXPECT]
    ),
    Comparison(
        "stall, logins over ssh, 20 users, one a second each", Load(Work.LOGINS, sshd, 20, 1, 2), [CUESTA, LOOP, SHARED]
    ),
]
