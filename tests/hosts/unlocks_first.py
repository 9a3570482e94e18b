"""A host of 3270s that unlocks the keyboard at once, and shows the answer a while later."""

from tests.hosts.behaviour import started
from tests.hosts.screens import asked, screen, unlock

LATER = 0.3

if __name__ == "__main__":
    host = started()
    for number in asked(host):
        host.write(unlock(), "unlock")
        host.pause(LATER)
        host.write(screen(f"DONE {number}", unlock=True), "text")
