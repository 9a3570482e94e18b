"""The live view on a terminal: draws what is shown, and reads keys.

A thread of its own does both, so that a terminal that takes no output holds up nothing else.
"""

import os
import select
import sys
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from io import FileIO

from rich.console import Console
from rich.control import Control
from rich.text import Text

from cuesta import terminal
from cuesta.full_screen import FullScreen
from cuesta.live.about import About
from cuesta.live.interaction import Interaction
from cuesta.live.keyboard import Keyboard
from cuesta.live.steering import Steering
from cuesta.records.observation import Observation

REST_OF_SEQUENCE = 0.05
"""Seconds after an Esc in which the rest of a sequence may come."""
IDLE = 0.5
"""Seconds after which the view is drawn again although nothing has happened: the window may have another size."""


class TerminalView:
    """Draws on the terminal of standard error; what is typed comes from there too. It is an engine's `Watcher`."""

    name = "live view"

    def __init__(self, about: About, steering: Steering, stop: threading.Event) -> None:
        self._terminal = sys.stderr.fileno()
        self._steering = steering
        self._interaction = Interaction(about, steering, stop)
        self._painter = Painter(Console(stderr=True))
        self._keyboard = Keyboard()
        self._screen: FullScreen | None = None
        self._thread: threading.Thread | None = None
        self._waking, wake = os.pipe()
        os.set_blocking(wake, False)
        self._wake = FileIO(wake, "wb")
        """An object, which knows that it is closed: others may still tell something then."""
        self._is_ending = False
        self._is_changed = True
        """Whether a key or a sentence has changed what is shown."""
        self._seen = Observation(snapshots=())
        """The newest."""
        self._began, self._spent = 0.0, 0.0
        self._told: list[str] = []

    def look(self, seen: Observation) -> None:
        """Show what is seen. The terminal is taken at the first look: until then the user may be asked something."""
        self._told += seen.answers[len(self._seen.answers) :]
        self._seen = seen
        if self._thread is None and not self._is_ending:
            self._open()
        self._draw_soon()

    def tell(self, text: str) -> None:
        """Show a sentence on the progress; it is printed when the view has ended."""
        self._told.append(text)
        self._is_changed = True
        self._draw_soon()

    def cpu(self) -> float:
        """CPU seconds that its thread has used so far."""
        return self._spent

    def close(self) -> None:
        """Give the terminal back, and print what was told."""
        self._is_ending = True
        self._draw_soon()
        if self._thread:
            self._thread.join()
        self.give_back()
        os.close(self._waking)
        self._wake.close()
        for text in self._told:
            terminal.inform(text)

    def give_back(self) -> None:
        """Give the terminal back at once, also in the handler of a signal."""
        self._is_ending, terminal.view = True, None
        if self._screen:
            self._screen.leave()

    def _open(self) -> None:
        self._began = time.monotonic()
        with suppress(OSError, termios.error):  # a terminal that is gone shows nothing
            self._screen = FullScreen(self._terminal)
            terminal.view = self
            self._thread = threading.Thread(target=self._serve, args=(self._screen,), daemon=True)
            self._thread.start()
            self._steering.watch(self._interaction)
        self._is_ending = self._thread is None

    def _draw_soon(self) -> None:
        with suppress(OSError, ValueError):  # it has ended
            self._wake.write(b"\0")  # nothing is written if it is awake already

    def _serve(self, screen: FullScreen) -> None:
        """Draw, and take keys, until the view ends or the terminal is gone."""
        with suppress(OSError, termios.error):
            reads = [self._waking, self._terminal]
            while not self._is_ending:
                if screen.is_in_foreground():
                    self._draw(screen)
                is_within = self._keyboard.is_within_sequence
                ready, _, _ = select.select(reads, [], [], REST_OF_SEQUENCE if is_within else IDLE)
                if self._waking in ready:
                    os.read(self._waking, 4096)
                if self._terminal in ready and not self._read_keys():
                    reads.remove(self._terminal)
                elif is_within and not ready:
                    self._press(self._keyboard.finish())

    def _read_keys(self) -> bool:
        """Take what was typed; False if nothing can be read any more."""
        try:
            typed = os.read(self._terminal, 1024)
        except OSError:  # it was opened for writing only
            return False
        self._press(self._keyboard.feed(typed))
        return bool(typed)

    def _press(self, keys: Sequence[str]) -> None:
        for key in keys:
            self._interaction.press(key)
        self._is_changed = True

    def _draw(self, screen: FullScreen) -> None:
        """Draw what has changed, if anything has."""
        if screen.take_again():
            self._painter.forget()
        is_new = self._interaction.see(self._seen) or self._is_changed or self._interaction.is_waiting
        self._is_changed = False
        size = os.get_terminal_size(self._terminal)
        if is_new or size != self._painter.size:
            price = self._spent / max(time.monotonic() - self._began, 1.0)
            self._painter.paint(self._interaction.rows(self._told, price, *size), size)
        self._spent = time.thread_time()


class Painter:
    """Draws the rows of a screen that are others than before, in one write."""

    def __init__(self, rich: Console) -> None:
        self._rich = rich
        self.size = (0, 0)
        """Columns and rows that it was drawn for."""
        self._drawn: Sequence[Text] = ()

    def forget(self) -> None:
        """Draw all rows next time."""
        self.size = (0, 0)

    def paint(self, rows: Sequence[Text], size: tuple[int, int]) -> None:
        """Draw the rows, which are as wide as the terminal."""
        with self._rich:  # it writes at the end of the block
            if size != self.size:
                self.size, self._drawn = size, ()
                self._rich.control(Control.home(), Control.clear())
            for number, row in enumerate(rows):
                if list(self._drawn[number : number + 1]) != [row]:
                    self._rich.control(Control.move_to(0, number))
                    self._rich.print(row, end="", soft_wrap=True)
        self._drawn = rows
