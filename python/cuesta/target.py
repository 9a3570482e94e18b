"""The syntax of targets, `KIND:REST`, without the native module. `line_kinds` has the table of kinds."""

BUILTIN_HOST = "host:"
"""The built-in host, which a run starts itself."""
LISTEN = "telnet://127.0.0.1:0"
"""The built-in host's default address: a free port."""


def without_settings(target: str) -> str:
    """A target as a sentence names it: without `?identity=…` and the like, which commands have none of."""
    return target if kind_of(target) in ("pty", "pipe") else target.partition("?")[0]


def kind_of(target: str) -> str:
    """The kind of line by which a target is reached."""
    return target.partition(":")[0]
