"""What those who watch may ask of a run."""

from collections.abc import Iterable
from typing import Protocol


class Steering(Protocol):
    """A run, as far as those who watch it steer it. Each may be asked at any time, on any thread."""

    def watch(self, viewer: object, users: Iterable[int] = (), *, series: bool = False) -> None:
        """Show a viewer the screens of these users from now on; `series`: each time series by itself."""

    def hold_starts(self, hold: bool) -> None:
        """Have users who have not started wait, or start."""

    def change_users(self, by: int) -> None:
        """Add users, or take some if negative. Later observations have the engine's answer in `answers`."""

    def mark(self, note: str) -> None:
        """Mark this instant."""
