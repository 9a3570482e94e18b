"""A field for a row in Textual: each row is answered below it. `field.py [LOG SECONDS]`.

With a log it draws in batches: a frame comes so long after the first key that it shows. A row of the log is a frame:
when it began, its bytes, and how many characters typed so far it shows.
"""

import json
import sys
import time
from contextlib import ExitStack
from pathlib import Path

from textual.app import App, ComposeResult
from textual.drivers.linux_driver import LinuxDriver
from textual.strip import Strip
from textual.widgets import Input, Label


class Row(Input):
    """An input that knows what it has drawn."""

    emptied = 0
    """Characters of earlier rows."""
    drawn = 0
    """Characters typed so far, when it was drawn last."""

    def render_line(self, y: int) -> Strip:
        self.drawn = self.emptied + len(self.value)
        return super().render_line(y)


class Field(App[None]):
    """An `Input` and a label."""

    answers = 0
    seconds = 0.0

    def compose(self) -> ComposeResult:
        self.batch = ExitStack()
        self.is_batch = False
        yield Row()
        yield Label("answer 0 to  $")

    def on_input_changed(self) -> None:
        """Begin a batch."""
        if self.seconds and not self.is_batch:
            self.is_batch = True
            self.batch.enter_context(self.batch_update())
            self.set_timer(self.seconds, self.end_batch)

    def end_batch(self) -> None:
        """Draw what has changed."""
        self.is_batch = False
        self.batch.close()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Answer a row, and empty the field."""
        self.answers += 1
        self.query_one(Label).update(f"answer {self.answers} to {event.value} $")
        self.query_one(Row).emptied += len(event.value)
        event.input.clear()


class LoggedDriver(LinuxDriver):
    """Logs each frame that is written."""

    log: Path
    since = 0
    data = ""

    def write(self, data: str) -> None:
        if "\x1b[?2026h" in data:
            self.since, self.data = time.monotonic_ns(), ""
        self.data += data
        super().write(data)
        if "\x1b[?2026l" in data:
            typed = self._app.query_one(Row).drawn
            size = len(self.data.encode()) + self.data.count("\n")  # the terminal sends CR LF for each LF
            row = {"since": self.since, "typed": typed, "bytes": size}
            with self.log.open("a") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    if arguments := sys.argv[1:]:
        LoggedDriver.log, Field.seconds = Path(arguments[0]), float(arguments[1])
        Field(driver_class=LoggedDriver).run()
    else:
        Field().run()
