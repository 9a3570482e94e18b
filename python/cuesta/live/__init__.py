"""A run while it goes on. It looks at snapshots and at nothing else.

On a terminal a row that renews itself; elsewhere a plain row every 5 s; with `quiet` nothing.
"""

from cuesta.live.progress import watching
from cuesta.live.view import View, merge

__all__ = ["View", "merge", "watching"]
