"""A host of 3270s that first writes beside the answer of before, which stays on the screen, and then the new one."""

from tests.hosts.behaviour import started
from tests.hosts.screens import END_OF_RECORD, KEEP, WRITE, asked, screen

LATER = 0.3
BUSY = WRITE + KEEP + b"\x11\x50\x5f" + "PLEASE WAIT".encode("cp037") + END_OF_RECORD
"""Written into the 14th row."""

if __name__ == "__main__":
    host = started()
    for number in asked(host):
        host.write(BUSY, "busy")
        host.pause(LATER)
        host.write(screen(f"DONE {number}", unlock=True), "text")
