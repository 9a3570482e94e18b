"""A bisync station that accepts the bid and then answers everything with WACK, for ever. Connected by `tcpsvd`."""

from tests.hosts.behaviour import started
from tests.hosts.bisync_station import ACKS, BEGIN, END, UNIT, WACK

if __name__ == "__main__":
    host, pending, bid = started(), b"", False
    for data in host.reads():
        pending += data
        while unit := UNIT.search(pending):
            pending = pending[unit.end() :]
            host.write(BEGIN + (WACK if bid else ACKS[0]) + END, "wack" if bid else "ack")
            bid = True
