"""A host of 3270s that shows each answer and never unlocks the keyboard."""

from tests.hosts.behaviour import started
from tests.hosts.screens import asked, screen

if __name__ == "__main__":
    host = started()
    for number in asked(host):
        host.write(screen(f"DONE {number}", unlock=False), "text")
