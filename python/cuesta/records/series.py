"""The words in the tags of histograms (docs/folder.md, histograms.hlog), as the driver declares them."""

from cuesta import _native

_sources, _wait_ends = _native.tag_words()
KEYS, LINE, STAMPED = (dict(_sources)[name] for name in ("KEYS", "LINE", "STAMPED"))
"""The sources that are no transactions: keystrokes, openings of lines, and responses by the kernel's stamps."""

WAIT_ENDS = {end: end.removeprefix("_") or "answered" for end in _wait_ends}
"""How the waits of a series ended, by the suffix of its name. `begun_before` has the ages of waits, not waits."""
