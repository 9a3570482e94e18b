"""A host that logs when each key arrives: `logs_arrivals.py ADDRESS PORT FILE`.

The log has a row for each character of each connection: the connection's number, the character, and the instant on the
host's monotonic clock in ns. A Return is answered with 20 characters.
"""

import selectors
import socket
import sys
import time


def main() -> None:
    address, port, file = sys.argv[1:]
    ready, connections = selectors.DefaultSelector(), 0
    with socket.create_server((address, int(port)), backlog=256) as listener, open(file, "w", buffering=1) as log:
        ready.register(listener, selectors.EVENT_READ, None)
        print("listens", flush=True)
        while True:
            for key, _ in ready.select():
                at = time.monotonic_ns()
                if key.data is None:
                    connection, _ = listener.accept()
                    ready.register(connection, selectors.EVENT_READ, connections)
                    connections += 1
                elif received := key.fileobj.recv(4096):  # type: ignore[union-attr]
                    log.writelines(f"{key.data} {letter!r} {at}\n" for letter in received.decode())
                    key.fileobj.sendall(b"." * 20 * received.count(b"\r"))  # type: ignore[union-attr]
                else:
                    ready.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]


if __name__ == "__main__":
    main()
