"""Echoes each key after 20 ms of CPU time on one CPU, the number of which is its argument."""

import os
import sys
import time
import tty

WORK = 0.02

os.sched_setaffinity(0, {int(sys.argv[1])})
tty.setraw(0)
while key := os.read(0, 1):
    until = time.thread_time() + WORK
    while time.thread_time() < until:
        pass
    os.write(1, key)
