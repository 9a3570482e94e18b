"""A host that uses a known CPU time for each row, all on one CPU; it logs, as `burned`, what it used."""

import os
import time

from tests.hosts.behaviour import started
from tests.hosts.commands import work_for_each_row

SECONDS = 0.02
"""CPU time of a row."""
CPU = 1


if __name__ == "__main__":
    os.sched_setaffinity(0, {CPU})
    host = started()

    def burn() -> None:
        since, before = time.monotonic_ns(), time.process_time()
        while time.process_time() < before + SECONDS:
            pass
        host.note("burned", since=since, cpu=time.process_time() - before)

    work_for_each_row(host, burn)
