"""A raw-mode program that shows each key after a set delay: `python set_delay.py MILLISECONDS`.

It works for the delay or sleeps (`--sleep`). Backspace deletes at once, as editors that only draw a blank do.
"""

import argparse
import os
import time
import tty

BACKSPACE = b"\x7f"


def serve(seconds: float, sleeps: bool) -> None:
    """Show keys until the line ends."""
    tty.setraw(0)
    os.write(1, b"\x1b[2J\x1b[H> ")
    while key := read_key():
        if key == BACKSPACE:
            os.write(1, b"\b \b")
            continue
        wait(seconds, sleeps)
        os.write(1, b"\r\n> " if key == b"\r" else key)


def read_key() -> bytes:
    try:
        return os.read(0, 1)
    except OSError:
        return b""


def wait(seconds: float, sleeps: bool) -> None:
    if sleeps:
        time.sleep(seconds)
        return
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("milliseconds", type=float)
    parser.add_argument("--sleep", action="store_true")
    arguments = parser.parse_args()
    serve(arguments.milliseconds / 1000, arguments.sleep)
