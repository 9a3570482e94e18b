"""The live view on a terminal: draws a run as it goes on, and passes on what keys ask for.

A thread of its own draws and reads keys, so that nobody waits for a terminal that takes no output.
"""

import os
import select
import sys
import termios
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from rich.console import Console
from rich.control import Control
from rich.text import Text

from cuesta import terminal
from cuesta.full_screen import FullScreen
from cuesta.live.about import About
from cuesta.live.dashboard import Scene, clock, draw, when
from cuesta.live.history import History
from cuesta.live.keyboard import ENTER, ERASE, ESCAPE, SUSPEND, Keyboard
from cuesta.live.rows import FAINT, NAME
from cuesta.live.steering import Steering
from cuesta.live.user_screen import Chosen, draw_user
from cuesta.live.view import View, merge
from cuesta.records.messages import UserGlimpse
from cuesta.records.observation import Observation
from cuesta.units import share

MAIN_KEYS = {"p": "hold starts", "m": "mark", "s": "see a user's screen", "q": "stop"}
SCREEN_KEYS = {"← →": "slowest, typical, failed", "0–9": "another user", "s": "back", "q": "stop"}
MOST_TOLD = 50
"""Sentences that are kept to be shown."""
REST_OF_SEQUENCE = 0.05
"""Seconds after an Esc in which the rest of a sequence may come."""
IDLE = 0.5
"""Seconds after which the view is drawn again although nothing has happened: the window may have another size."""
NOTICE = 4.0
"""Seconds for which the answer to a key is shown."""


class TerminalView:
    """Draws on the terminal of standard error; what is typed comes from there too. It is an engine's `Watcher`."""

    name = "live view"

    def __init__(self, about: About, steering: Steering, stop: threading.Event) -> None:
        self._about, self._steering, self._stop = about, steering, stop
        self._terminal = sys.stderr.fileno()
        self._rich = Console(stderr=True)
        self._screen: FullScreen | None = None
        self._thread: threading.Thread | None = None
        self._waking, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._is_ending = False
        self._seen = Observation(snapshots=())
        """The newest; all below belongs to the thread that draws."""
        self._keyboard = Keyboard()
        self._history = History()
        self._view: View | None = None
        self._merged: Observation | None = None
        """What `_view` was made of."""
        self._user: int | None = None
        """Whose screen is shown."""
        self._walk: Sequence[UserGlimpse] = ()
        """The users among whom the arrows walk."""
        self._question: str | None = None
        """What is asked at the last row: `note` or `user`."""
        self._typed = ""
        self._notice, self._notice_until = "", 0.0
        self._is_held = False
        self._began, self._spent = 0.0, 0.0
        self._drawn: list[Text] = []
        self._size = (0, 0)
        self.told: list[str] = []

    def look(self, seen: Observation) -> None:
        """Show what is seen. The terminal is taken at the first look: until then the user may be asked something."""
        self._seen = seen
        if self._thread is None and not self._is_ending:
            self._open()
        self._draw_soon()

    def tell(self, text: str) -> None:
        """Show a sentence on the progress; it is printed when the view has ended."""
        self.told.append(text)
        self._draw_soon()

    def cpu(self) -> float:
        """Seconds of CPU time that its thread has used so far."""
        return self._spent

    def close(self) -> None:
        """Give the terminal back, and print what was told."""
        self._is_ending = True
        self._draw_soon()
        if self._thread:
            self._thread.join()
        self.give_back()
        os.close(self._waking)
        os.close(self._wake)
        for text in self.told:
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
            self._steering.watch(self)
        self._is_ending = self._thread is None

    def _draw_soon(self) -> None:
        with suppress(OSError):  # it is awake already, or has ended
            os.write(self._wake, b"\0")

    def _serve(self, screen: FullScreen) -> None:
        """Draw, and take keys, until the view ends or the terminal is gone."""
        with suppress(OSError, termios.error):
            reads = [self._waking, self._terminal]
            while not self._is_ending:
                if screen.is_in_foreground():
                    self._draw(screen)
                self._spent = time.thread_time()
                is_within = self._keyboard.is_within_sequence
                ready, _, _ = select.select(reads, [], [], REST_OF_SEQUENCE if is_within else IDLE)
                if self._waking in ready:
                    os.read(self._waking, 4096)
                if self._terminal in ready and not self._read_keys():
                    reads.remove(self._terminal)
                elif is_within and not ready:
                    self._press_all(self._keyboard.finish())

    def _read_keys(self) -> bool:
        """Take what was typed; False if nothing can be read any more."""
        try:
            typed = os.read(self._terminal, 1024)
        except OSError:  # it was opened for writing only
            return False
        self._press_all(self._keyboard.feed(typed))
        return bool(typed)

    def _press_all(self, keys: Sequence[str]) -> None:
        for key in keys:
            if self._question:
                self._answer(key)
            else:
                self._press(key)

    def _press(self, key: str) -> None:
        match key:
            case "q":
                self._stop.set()
            case "p":
                self._hold(not self._is_held)
            case "m":
                self._question, self._typed = "note", ""
            case "s" | "escape" if self._user is not None:
                self._show_user(None)
            case "s":
                self._show_first()
            case "left" | "right" if self._user is not None:
                self._walk_on(1 if key == "right" else -1)
            case _ if key.isdecimal() and key.isascii():
                self._question, self._typed = "user", key
            case _ if key == SUSPEND:
                self._notify("a run is not suspended: what it measures would be wrong")

    def _answer(self, key: str) -> None:
        if key in ENTER:
            question, self._question = self._question, None
            if question == "note":
                self._steering.mark(self._typed)
                self._notify(f"marked at {clock(self._view.elapsed if self._view else 0.0)}")
            elif self._typed.isdecimal() and self._typed.isascii():
                self._show_user(int(self._typed))
        elif key == ESCAPE:
            self._question = None
        elif key in ERASE:
            self._typed = self._typed[:-1]
        elif key.isprintable() and len(key) == 1:
            self._typed += key

    def _hold(self, hold: bool) -> None:
        self._is_held = hold
        self._steering.hold_starts(hold)
        self._notify("who has not started waits" if hold else "users start again")

    def _show_first(self) -> None:
        """Show the slowest user; ask for a number while none is known to be slow."""
        self._walk = self._view.glimpses if self._view else ()
        if self._walk:
            self._show_user(self._walk[0].user)
        else:
            self._question, self._typed = "user", ""

    def _walk_on(self, by: int) -> None:
        """Show the next user of those that stood out when the first was shown, or stand out now if it is none."""
        users = [glimpse.user for glimpse in self._walk]
        if self._user not in users:
            self._show_first()
        else:
            self._show_user(users[(users.index(self._user) + by) % len(users)])

    def _show_user(self, user: int | None) -> None:
        self._user = user
        self._steering.watch(self, () if user is None else (user,))

    def _notify(self, notice: str) -> None:
        self._notice, self._notice_until = notice, time.monotonic() + NOTICE

    def _draw(self, screen: FullScreen) -> None:
        """Draw the rows that have changed."""
        size = self._rich.size
        if screen.take_again() or size != self._size:
            self._size, self._drawn = size, []
        rows = [_fit(row, size.width) for row in self._rows(size.width, size.height)]
        with self._rich:  # written at once
            if not self._drawn:
                self._rich.control(Control.home(), Control.clear())
            for number, row in enumerate(rows):
                if self._drawn[number : number + 1] != [row]:
                    self._rich.control(Control.move_to(0, number))
                    self._rich.print(row, end="", soft_wrap=True)
        self._drawn = rows

    def _rows(self, width: int, height: int) -> list[Text]:
        seen = self._seen
        if seen != self._merged:
            self._merged, self._view = seen, merge(seen) or self._view
            if self._view:
                self._history.add(self._view)
        waited = time.monotonic() - self._began
        scene = Scene(self._about, self._view, self._history, waited, self.told[-MOST_TOLD:])
        if self._user is None:
            rows = draw(scene, width, height - 1)
        else:
            rows = draw_user(self._choose(self._user), when(scene), width, height - 1)
        return [*rows, *(Text() for _ in range(height - 1 - len(rows))), self._last_row(width)]

    def _choose(self, user: int) -> Chosen:
        glimpses = self._view.glimpses if self._view else ()
        place = next((number for number, each in enumerate(self._walk, 1) if each.user == user), None)
        return Chosen(
            user,
            f"{place} of {len(self._walk)}" if place else "",
            next((each for each in (*glimpses, *self._walk) if each.user == user), None),
            next((screen for screen in self._seen.screens if screen.user == user), None),
        )

    def _last_row(self, width: int) -> Text:
        """What the keys do, or a question, or what a key has done; at its right end the price of the view."""
        if self._stop.is_set():
            return Text("stopping; what was measured is kept (Ctrl-C again: end at once)", NAME)
        if self._question == "note":
            return Text(f"mark this instant: {self._typed}▏ (Enter; Esc: do not)")
        if self._question == "user":
            return Text(f"see the screen of user: {self._typed}▏ (Enter; Esc: do not)")
        if time.monotonic() < self._notice_until:
            return Text(self._notice, NAME)
        names = MAIN_KEYS if self._user is None else SCREEN_KEYS
        held = {"p": "let users start"} if self._is_held and self._user is None else {}
        row = Text("  ").join(Text.assemble((key, NAME), " ", (name, FAINT)) for key, name in {**names, **held}.items())
        price = f"this view takes {share(self._spent / max(time.monotonic() - self._began, 1.0))} of a core"
        if row.cell_len + 4 + len(price) <= width:
            row.pad_right(width - row.cell_len - len(price))
            row.append(price, FAINT)
        return row


def _fit(row: Text, width: int) -> Text:
    row.truncate(width, overflow="ellipsis", pad=True)
    return row
