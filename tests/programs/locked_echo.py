"""Echoes each key while it holds the lock of the file that its argument names."""

import fcntl
import os
import sys
import tty

tty.setraw(0)
with open(sys.argv[1], "w", encoding="utf-8") as file:
    while key := os.read(0, 1):
        fcntl.flock(file, fcntl.LOCK_EX)
        os.write(1, key)
        fcntl.flock(file, fcntl.LOCK_UN)
