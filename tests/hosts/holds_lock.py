"""A host that sleeps while it holds a lock that all its connections share: responses grow, and every meter is idle.

The lock is a file beside the log.
"""

import fcntl
import time

from tests.hosts.behaviour import started
from tests.hosts.commands import work_for_each_row

SECONDS = 0.05
"""How long each row holds the lock."""


if __name__ == "__main__":
    host = started()
    path = host.folder / "lock"

    def work() -> None:
        with path.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            host.note("locked")
            time.sleep(SECONDS)

    work_for_each_row(host, work)
