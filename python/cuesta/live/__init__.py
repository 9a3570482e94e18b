"""Shows a run while it goes on, from what is seen of it.

A terminal shows a live view; a small one, or with `plain`, one row that is redrawn. Anything else receives a row every
5 s, and one at once when a user has waited for 5 s. `quiet` shows nothing.

- `view`: one moment of a run; `history`: its last minute.
- `followed`: all that those who follow a run know of it; `timeline`: its course, in as many points as a chart shows.
- `about`: what is run; `steering`: what those who watch may ask of it.
- `progress`: chooses where a run is shown, and prints rows; `redrawn_row`: one row that a terminal redraws.
- `terminal_view`: the live view on a terminal; `keyboard`: the keys in what a terminal sends.
- `interaction`: what the view shows, and what its keys do; `dashboard`: its main rows; `search_rows`: those of a
  search; `user_screen`: the screen of a user; `rows`: how they look.
"""

from cuesta.live.about import About, LiveLimit, describe_run
from cuesta.live.progress import watch

__all__ = ["About", "LiveLimit", "describe_run", "watch"]
