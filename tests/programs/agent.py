"""An agent's text box below a stream, drawn as Ink draws it: the cursor is hidden, its rows are written anew.

Each prompt is answered by some words, one every `WORD` seconds, above the box. What is typed meanwhile stays in the
box, and Return sends it once the answer has ended. `agent.py LOG` writes a JSON row for each letter and each prompt.
"""

import json
import os
import select
import sys
import termios
import time
import tty
from collections.abc import Iterator

WORD = 0.04
ANSWER = 50
"""Words of an answer."""
WIDTH = 76
ERASE_ROW_AND_GO_UP = "\x1b[2K\x1b[1A"


class Agent:
    """What is shown: the text in the box, the row of the answer that is being written, and rows above that stay."""

    def __init__(self, log: str) -> None:
        self.log = open(log, "a", encoding="utf-8")  # noqa: SIM115, until the program ends
        self.typed = ""
        self.row = ""
        self.words: Iterator[str] = iter(())
        self.is_answering = False
        self.live_rows = 0

    def box(self) -> list[str]:
        status = "working, esc to interrupt" if self.is_answering else "ready"
        text = f"> {self.typed}"[-WIDTH + 2 :]
        inside = f" {text}\x1b[7m \x1b[27m{' ' * (WIDTH - len(text) - 2)}"
        return [self.row, "╭" + "─" * WIDTH + "╮", f"│{inside}│", "╰" + "─" * WIDTH + "╯", f"  {status}"]

    def draw(self, *above: str) -> None:
        """Draw the box anew, below further rows that stay."""
        erased = "\r" + ERASE_ROW_AND_GO_UP * (self.live_rows - 1) + "\x1b[2K" if self.live_rows else ""
        rows = [*above, *self.box()]
        self.live_rows = len(self.box())
        os.write(1, (erased + "\r\n".join(rows)).encode())

    def key(self, character: str) -> None:
        if character == "\r":
            if self.is_answering or not self.typed:
                return
            prompt, self.typed = self.typed, ""
            self.write_log(prompt=prompt)
            self.words, self.is_answering = iter(f"word{number}" for number in range(ANSWER)), True
            self.draw(f"> {prompt}")
            return
        is_deletion = character == "\x7f"
        self.typed = self.typed[:-1] if is_deletion else self.typed + character
        self.draw()
        if not is_deletion:
            self.write_log(key=character)

    def stream(self) -> None:
        """Write the next word of the answer."""
        word = next(self.words, None)
        above: list[str] = []
        if word is None or len(self.row) + len(word) > WIDTH:
            above, self.row = [self.row], ""
        self.is_answering = word is not None
        self.row += f"{word} " if word else ""
        self.draw(*above)

    def write_log(self, **row: str) -> None:
        self.log.write(json.dumps({"at": time.monotonic(), "pid": os.getpid(), **row}) + "\n")
        self.log.flush()


def main(log: str) -> None:
    tty.setraw(0)
    os.write(1, b"\x1b[?25l")
    agent = Agent(log)
    agent.draw("An agent. Type a prompt.")
    due = 0.0
    while True:
        now = time.monotonic()
        due = max(due, now - WORD)
        wait = max(0.0, due - now) if agent.is_answering else None
        if select.select([0], [], [], wait)[0]:
            read = os.read(0, 1024).decode()
            if not read or "\x03" in read:
                return
            for character in read:
                agent.key(character)
        elif agent.is_answering:
            agent.stream()
            due += WORD


if __name__ == "__main__":
    saved = termios.tcgetattr(0)
    try:
        main(sys.argv[1])
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, saved)
