"""A run while it goes on. It looks at snapshots and at nothing else.

On a terminal a row that renews itself; elsewhere a plain row every 5 s; with `quiet` nothing.

- `view`: what is shown of one moment.
- `progress`: how, and where to.
"""

from cuesta.live.progress import watching

__all__ = ["watching"]
