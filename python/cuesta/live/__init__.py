"""Shows a run while it goes on, from snapshots alone.

A terminal has a row that renews itself; anything else has a plain row every 5 s; with `quiet` nothing is shown.

- `view`: one moment of a run, and its row.
- `progress`: the row on standard error, renewed or repeated.
"""

from cuesta.live.progress import watching

__all__ = ["watching"]
