"""What a terminal shows of a run at each moment, and what the keys do. It knows no terminal."""

import threading
import time
from collections.abc import Sequence

from rich.cells import set_cell_size
from rich.text import Text

from cuesta.live.about import About
from cuesta.live.dashboard import Scene, clock, draw, when
from cuesta.live.history import History
from cuesta.live.keyboard import ENTER, ERASE, ESCAPE, SUSPEND
from cuesta.live.rows import FAINT, NAME
from cuesta.live.steering import Steering
from cuesta.live.user_screen import Chosen, draw_user
from cuesta.live.view import View, merge
from cuesta.records.messages import UserGlimpse
from cuesta.records.observation import Observation
from cuesta.units import share

MAIN_KEYS = {"p": "hold starts", "+ -": "users", "m": "mark", "s": "a user's screen", "q": "stop"}
"""What the keys do; it fits into the narrowest terminal that has the view."""
SCREEN_KEYS = {"← →": "slowest, typical, failed", "0–9": "another user", "s": "back", "q": "stop"}
QUESTIONS = {
    "m": "mark this instant: ",
    "user": "see the screen of user: ",
    "+": "how many users are to come: ",
    "-": "how many users are to leave: ",
}
ANSWER_KEYS = "(Enter; Esc: do not)"
MOST_DIGITS = 9
"""Digits that are read of a number."""
NOTICE = 4.0
"""Seconds for which the answer to a key is shown."""
MOST_TOLD = 50
"""Sentences that are kept to be shown."""


class Interaction:
    """One who watches a run at a terminal: what they see, and what they ask for. It is used by one thread."""

    def __init__(self, about: About, steering: Steering, stop: threading.Event) -> None:
        self._about, self._steering, self._stop = about, steering, stop
        self._began = time.monotonic()
        self._seen = Observation(snapshots=())
        self._history = History()
        self._view: View | None = None
        self._user: int | None = None
        """Whose screen is shown."""
        self._walk: Sequence[UserGlimpse] = ()
        """The users among whom the arrows walk."""
        self._question: str | None = None
        """What is asked at the last row, of `QUESTIONS`."""
        self._typed = ""
        self._notice, self._notice_until = "", 0.0
        self._is_held = False

    def see(self, seen: Observation) -> bool:
        """Take what is seen; returns whether anything in it is new."""
        if seen == self._seen:
            return False
        self._seen, self._view = seen, merge(seen) or self._view
        if self._view:
            self._history.add(self._view)
        return True

    @property
    def is_waiting(self) -> bool:
        """Whether nothing has been seen yet, so that only the time passes."""
        return self._view is None

    def press(self, key: str) -> None:
        """Do what a key asks for."""
        if self._question:
            self._answer(key)
            return
        match key:
            case "q":
                self._stop.set()
            case "p":
                self._hold(not self._is_held)
            case "m" | "+" | "-":
                self._ask(key)
            case "s" | "escape" if self._user is not None:
                self._show_user(None)
            case "s":
                self._show_first()
            case "left" | "right" if self._user is not None:
                self._walk_on(1 if key == "right" else -1)
            case _ if key.isdecimal() and key.isascii():
                self._ask("user", key)
            case _ if key == SUSPEND:
                self._notify("a run cannot be suspended: what it measures would be wrong")

    def rows(self, told: Sequence[str], price: float, width: int, height: int) -> list[Text]:
        """The rows of a screen; `told` was said of the run, `price` is the CPU time of the view, in cores."""
        scene = Scene(self._about, self._view, self._history, time.monotonic() - self._began, told[-MOST_TOLD:])
        if self._user is None:
            rows = draw(scene, width, height - 1)
        else:
            rows = draw_user(self._choose(self._user), when(scene), width, height - 1)
        blank = [Text() for _ in range(height - 1 - len(rows))]
        return [_fit(row, width) for row in (*rows[: height - 1], *blank, self._last_row(price, width))]

    def _ask(self, question: str, typed: str = "") -> None:
        self._question, self._typed = question, typed

    def _answer(self, key: str) -> None:
        if key in ENTER:
            question, self._question = self._question, None
            if question == "m":
                self._steering.mark(self._typed)
                self._notify(f"marked at {clock(self._view.elapsed if self._view else 0.0)}")
            elif self._typed.isdecimal() and self._typed.isascii():
                self._take_number(question, int(self._typed[:MOST_DIGITS]))
        elif key == ESCAPE:
            self._question = None
        elif key in ERASE:
            self._typed = self._typed[:-1]
        elif key.isprintable() and len(key) == 1:
            self._typed += key

    def _take_number(self, question: str | None, number: int) -> None:
        if question == "user":
            self._show_user(number)
        elif number:
            self._steering.change_users(number if question == "+" else -number)

    def _hold(self, hold: bool) -> None:
        self._is_held = hold
        self._steering.hold_starts(hold)
        self._notify("who has not started waits" if hold else "users start again")

    def _show_first(self) -> None:
        """Show the slowest user; ask for a number while none is known to be slow."""
        glimpses = self._view.glimpses if self._view else ()
        self._walk = list({glimpse.user: glimpse for glimpse in glimpses}.values())
        if self._walk:
            self._show_user(self._walk[0].user)
        else:
            self._ask("user")

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

    def _choose(self, user: int) -> Chosen:
        glimpses = self._view.glimpses if self._view else ()
        place = next((number for number, each in enumerate(self._walk, 1) if each.user == user), None)
        return Chosen(
            user,
            f"{place} of {len(self._walk)}" if place else "",
            next((each for each in (*glimpses, *self._walk) if each.user == user), None),
            next((screen for screen in self._seen.screens if screen.user == user), None),
        )

    def _last_row(self, price: float, width: int) -> Text:
        """What the keys do, or a question, or what a key has done; at its right end the price of the view."""
        if self._stop.is_set():
            return Text("stopping; what was measured is kept (Ctrl-C again: end at once)", NAME)
        if self._question:
            return self._question_row(QUESTIONS[self._question], width)
        if time.monotonic() < self._notice_until:
            return Text(self._notice, NAME)
        names = MAIN_KEYS if self._user is None else SCREEN_KEYS
        held = {"p": "start again"} if self._is_held and self._user is None else {}
        row = Text("  ").join(Text.assemble((key, NAME), " ", (name, FAINT)) for key, name in {**names, **held}.items())
        cost = f"this view takes {share(price)} of a core"
        if row.cell_len + 4 + len(cost) <= width:
            row.pad_right(width - row.cell_len - len(cost))
            row.append(cost, FAINT)
        return row

    def _question_row(self, question: str, width: int) -> Text:
        """What is asked and typed; of what is too long the end, where the cursor is."""
        room = max(width - len(question) - len(ANSWER_KEYS) - 3, 1)
        typed = Text(self._typed)
        if typed.cell_len > room:
            typed = Text("…" + set_cell_size(self._typed[::-1], room - 1).rstrip()[::-1])
        return Text.assemble(question, typed, "▏ ", ANSWER_KEYS)


def _fit(row: Text, width: int) -> Text:
    row.truncate(width, overflow="ellipsis", pad=True)
    return row
