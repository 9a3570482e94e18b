"""A program that asks for a secret in a raw terminal: `python -m tests.asks HOW [PROMPT]`.

It prints only the length of the secret. HOW is what the screen shows of each key: `nothing`, a `star`, a `blank`,
the `last` key until the next one comes, each key for a `moment`, keys `elsewhere` on the screen, a rising `meter`.
"""

import os
import sys
import time
import tty

ENDS = "\r\n\t\x03\x04\x1b"


def shows(how: str, read: str) -> str:
    """The text to show after these keys."""
    key = read[-1]
    return {
        "nothing": "",
        "star": "*",
        "blank": " ",
        "last": ("\b*" if len(read) > 1 else "") + key,
        "moment": key,
        "elsewhere": f"\x1b7\x1b[20;1Hlatest key: {key}\x1b8",
        "meter": f"\x1b7\x1b[20;1Hstrength: {len(read)}\x1b8",
    }[how]


def main(how: str, prompt: str = "Code: ") -> None:
    """Ask for one secret."""
    tty.setraw(0)
    read = ""
    os.write(1, f"\x1b[2J\x1b[3;5H{prompt}".encode())
    while (key := os.read(0, 1).decode("latin-1")) and key not in ENDS:
        read = read[:-1] if key == "\x7f" else read + key
        if read and key != "\x7f":
            os.write(1, shows(how, read).encode())
        if how == "moment" and key != "\x7f":
            time.sleep(0.02)  # the text is shown for this long, even if keys arrive
            os.write(1, b"\b*")
    os.write(1, f"\r\nread {len(read)} keys\r\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
