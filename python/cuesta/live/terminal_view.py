"""The live view on a terminal: draws a run as it goes on, and passes on what keys ask for."""

import os
import select
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.control import Control
from rich.text import Text

from cuesta.full_screen import full_screen
from cuesta.live.about import About
from cuesta.live.dashboard import Scene, draw, draw_screen
from cuesta.live.history import History
from cuesta.live.steering import Steering
from cuesta.live.view import View, merge
from cuesta.records.messages import UserScreen
from cuesta.records.observation import Observation

KEYS = "p hold starts  m mark  s a user's screen  q stop"
HELD_KEYS = "p let users start  m mark  s a user's screen  q stop"
SCREEN_KEYS = "← → another user  s back  q stop"
MOST_TOLD = 50
"""Sentences that are kept to be shown."""
ESCAPES = {b"\x1b[C": "right", b"\x1b[D": "left", b"\x1bOC": "right", b"\x1bOD": "left", b"\x1b": "escape"}
ENTER, ERASE = ("\r", "\n"), ("\x7f", "\x08")


class TerminalView:
    """Draws on the terminal of standard error; what is typed comes from there too. It is an engine's `Watcher`."""

    name = "live view"

    def __init__(self, about: About, steering: Steering, stop: threading.Event) -> None:
        self._about, self._steering, self._stop = about, steering, stop
        self._terminal = sys.stderr.fileno()
        self._rich = Console(stderr=True)
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._history = History()
        self._view: View | None = None
        self._screens: dict[int, UserScreen] = {}
        self._user: int | None = None
        """Whose screen is shown."""
        self._question: str | None = None
        """What is asked at the last row: `note` or `user`."""
        self._typed = ""
        self._is_held = False
        self._began, self._spent = 0.0, 0.0
        self._size = (0, 0)
        self.told: list[str] = []

    def look(self, seen: Observation) -> None:
        """Show what is seen. The terminal is taken at the first view: until then the user may be asked something."""
        with self._working():
            view = merge(seen)
            if view is None:
                return
            if self._view is None:
                self._open()
            self._view = view
            self._history.add(view)
            self._screens = {screen.user: screen for screen in seen.screens}
            self._draw()

    def tell(self, text: str) -> None:
        """Show a sentence on the progress; it is printed when the view has ended."""
        with self._working():
            self.told.append(text)
            if self._view:
                self._draw()

    def cpu(self) -> float:
        """Seconds of CPU time that it has used so far, in all threads."""
        return self._spent

    def close(self) -> None:
        """Give the terminal back."""
        self._stack.close()

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Hold the lock during the block, and count its CPU time."""
        with self._lock:
            begin = time.thread_time()
            try:
                yield
            finally:
                self._spent += time.thread_time() - begin

    def _open(self) -> None:
        self._stack.enter_context(full_screen(self._terminal))
        self._began = time.monotonic()
        self._steering.watch(self)
        reading, ending = os.pipe()
        keys = threading.Thread(target=self._listen, args=(reading,), daemon=True)
        keys.start()
        self._stack.callback(os.close, reading)
        self._stack.callback(keys.join)
        self._stack.callback(os.close, ending)

    def _listen(self, ending: int) -> None:
        """Take keys until the other end of a pipe is closed."""
        while True:
            ready, _, _ = select.select([self._terminal, ending], [], [])
            if ending in ready:
                return
            typed = os.read(self._terminal, 64)
            if not typed:
                return  # the terminal is gone
            with self._working():
                for key in _split(typed):
                    self._press(key)
                self._draw()

    def _press(self, key: str) -> None:
        if self._question:
            self._answer(key)
            return
        match key:
            case "q":
                self._stop.set()
            case "p":
                self._is_held = not self._is_held
                self._steering.hold_starts(self._is_held)
            case "m":
                self._question, self._typed = "note", ""
            case "s" | "escape" if self._user is not None:
                self._show_user(None)
            case "s":
                self._question, self._typed = "user", ""
            case "left" | "right" if self._user is not None:
                self._show_user(max(self._user + (1 if key == "right" else -1), 0))

    def _answer(self, key: str) -> None:
        if key in ENTER:
            question, self._question = self._question, None
            if question == "note":
                self._steering.mark(self._typed)
            elif self._typed.isdecimal() and self._typed.isascii():
                self._show_user(int(self._typed))
        elif key == "escape":
            self._question = None
        elif key in ERASE:
            self._typed = self._typed[:-1]
        elif key.isprintable() and len(key) == 1:
            self._typed += key

    def _show_user(self, user: int | None) -> None:
        self._user = user
        self._steering.watch(self, () if user is None else (user,))

    def _draw(self) -> None:
        if self._view is None:
            return
        width, height = self._rich.size
        price = self._spent / max(time.monotonic() - self._began, 1.0)
        scene = Scene(self._about, self._view, self._history, self.told[-MOST_TOLD:], self._last_row(), price)
        if self._user is not None:
            scene.extra = draw_screen(self._user, self._screens.get(self._user))
        rows = Text("\n").join(draw(scene, width, height))
        clear = [Control.clear()] if (width, height) != self._size else []
        self._size = (width, height)
        self._rich.control(*clear, Control.home())
        self._rich.print(rows, end="", no_wrap=True, overflow="crop", crop=True, soft_wrap=False)

    def _last_row(self) -> str:
        if self._stop.is_set():
            return "stopping; what was measured is kept"
        if self._question == "note":
            return f"mark this instant: {self._typed}▏ (Enter; Esc: not)"
        if self._question == "user":
            return f"the screen of user: {self._typed}▏ (Enter; Esc: not)"
        if self._user is not None:
            return SCREEN_KEYS
        return HELD_KEYS if self._is_held else KEYS


def _split(typed: bytes) -> Iterator[str]:
    """The keys in what was read."""
    if typed in ESCAPES:
        yield ESCAPES[typed]
    elif not typed.startswith(b"\x1b"):
        yield from typed.decode(errors="ignore")
