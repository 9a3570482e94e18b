"""A prompt that draws all keys typed since the last frame at once: `python draws_in_frames.py LOG SECONDS`.

It draws a frame the given time after the first key that it has not drawn. LOG gets a row for each key: when it was read
and when it was shown, by the monotonic clock in nanoseconds. Backspace deletes; Return is not taken.
"""

import json
import os
import select
import sys
import time
import tty

BACKSPACE = "\x7f"


def serve(log: str, seconds: float) -> None:
    """Show keys until the line ends."""
    tty.setraw(0)
    os.write(1, b"\x1b[2J\x1b[H> ")
    row, undrawn, due = "", list[tuple[str, int]](), 0.0
    with open(log, "a", encoding="utf-8") as file:
        while True:
            wait = max(due - time.monotonic(), 0) if undrawn else None
            if select.select([0], [], [], wait)[0]:
                text = os.read(0, 4096).decode()
                if not text:
                    return
                at = time.monotonic_ns()
                if not undrawn:
                    due = time.monotonic() + seconds
                undrawn += [(character, at) for character in text]
                continue
            for character, _ in undrawn:
                row = row[:-1] if character == BACKSPACE else row + character
            os.write(1, f"\r\x1b[2K> {row}".encode())
            shown = time.monotonic_ns()
            for character, at in undrawn:
                file.write(json.dumps({"key": character, "read": at, "shown": shown}) + "\n")
            file.flush()
            undrawn.clear()


if __name__ == "__main__":
    serve(sys.argv[1], float(sys.argv[2]))
