"""A host that burns a known CPU time for each row, and then writes DONE.

Its log has the CPU time that each row took by the host's own clock.
"""

import time

from tests.hosts.behaviour import started

CPU = 0.02
"""Seconds of CPU for each row."""

if __name__ == "__main__":
    host = started()
    host.write(b"$ ", "prompt")
    for read in host.reads():
        for _ in range(read.count(b"\r")):
            begun = time.thread_time()
            while time.thread_time() < begun + CPU:
                pass
            host.write(b"DONE\r\n", "answer", cpu=time.thread_time() - begun)
