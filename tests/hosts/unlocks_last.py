"""A host of 3270s that shows the answer at once, and unlocks the keyboard a while later."""

from tests.hosts.behaviour import started
from tests.hosts.screens import asked, screen, unlock

LATER = 0.3

if __name__ == "__main__":
    host = started()
    for number in asked(host):
        host.write(screen(f"DONE {number}", unlock=False), "text")
        host.pause(LATER)
        host.write(unlock(), "unlock")
