"""The engine's end of an agent on another machine."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from cuesta.engine.ports import Row
from cuesta.engine.remote.row_stream import SocketStream
from cuesta.engine.remote.shipping import write_piece

FETCH_TIMEOUT = 10.0
"""Seconds within which a node must send what was recorded since it last did."""


@dataclass(slots=True)
class RemoteAgent:
    """An agent whose records arrive here while it makes them."""

    number: int
    node: str
    stream: SocketStream
    folder: Path
    """Where its records arrive."""
    send_order: Callable[[Row], None]
    """Takes its order there. An order has what users type, passwords too: it goes no way that can be read."""
    describe_loss: Callable[[], str]
    """Why the connection to its node ended before it said how the agent ended."""
    records: str = ""
    """The node's end chooses a folder."""
    exited: str | None = None
    """How its process ended, as its node said; or what ended the connection here."""
    asked: int = 0
    """How often its records were asked for."""
    state: threading.Condition = field(default_factory=threading.Condition)
    """Guards the two below."""
    fetched: int = 0
    """The last of these times that was answered."""
    is_over: bool = False
    """Whether nothing arrives any more."""

    def tell(self, row: Row) -> None:
        if "order" in row:
            self.send_order(row)
        else:
            self.stream.send(row)

    def listen(self) -> Iterator[Row]:
        try:
            for row in self.stream.receive():
                match row:
                    case {"piece": piece}:
                        write_piece(piece, self.folder)
                    case {"fetched": int(number)}:
                        self._note(fetched=number)
                    case {"exited": str(how)}:
                        self.exited = how
                        break
                    case _:
                        yield row
        except OSError as error:
            self.exited = f"was given up: its records cannot be written here: {error.strerror}"
        finally:
            self._note(is_over=True)
            self.stream.close()

    def how_it_ended(self) -> str:
        return self.exited or self.describe_loss()

    def stop(self) -> None:
        self.stream.send({"stop": True})

    def kill(self) -> None:
        self.stream.close()

    def fetch(self, _: Path, /) -> None:
        """Have all records that there are by now; they arrive by themselves, a second later."""
        self.asked += 1
        self.stream.send({"fetch": self.asked})
        with self.state:
            self.state.wait_for(lambda: self.is_over or self.fetched >= self.asked, FETCH_TIMEOUT)

    def _note(self, *, fetched: int = 0, is_over: bool = False) -> None:
        with self.state:
            self.fetched = max(self.fetched, fetched)
            self.is_over = self.is_over or is_over
            self.state.notify_all()
