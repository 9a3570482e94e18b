"""How an outlet steers the run from the process that publishes it: by messages to the command."""

from collections.abc import Callable, Sequence

from cuesta.publish.messages import FromPublisher
from cuesta.records.messages import WatchOrder

Say = Callable[[FromPublisher], None]
"""Tells the command."""


class RemoteSteering:
    """What one outlet asks of the run."""

    def __init__(self, outlet: str, say: Say) -> None:
        self._outlet, self._say = outlet, say
        self._order: WatchOrder | None = None

    def watch(self, users: Sequence[int] = (), *, series: bool = False) -> None:
        """Have the drivers show the screens of these users from now on; `series`: each series by itself."""
        order = WatchOrder(users=tuple(users), series=series)
        if order != self._order:  # pages come and go faster than what they show changes
            self._order = order
            self._say(FromPublisher(watch=order, outlet=self._outlet))

    def mark(self, note: str) -> None:
        """Mark this instant."""
        self._say(FromPublisher(mark=note))

    def stop(self) -> None:
        """End the run."""
        self._say(FromPublisher(stop=True))

    def warn(self, sentence: str) -> None:
        """Tell what does not work any longer."""
        self._say(FromPublisher(warning=sentence))
