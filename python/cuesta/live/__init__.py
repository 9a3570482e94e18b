"""Shows the progress of a run, from its snapshots.

A terminal shows one row, which is redrawn. Anything else receives a row every 5 s, and one at once when a user has
waited for 5 s. `quiet` shows nothing.

- `view`: one moment of a run, as a row of text.
- `progress`: prints the rows on standard error; `redrawn_row`: as one row that a terminal redraws.
"""

from cuesta.live.progress import watch

__all__ = ["watch"]
