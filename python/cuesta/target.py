"""What a target is: `KIND:REST`. `line_kinds` has the kinds; this much is known without the native module."""

BUILTIN_HOST = "host:"
"""The built-in host, which a run starts itself."""
LISTEN = "telnet://127.0.0.1:0"
"""Where the built-in host listens unless told otherwise: at a free port."""


def kind_of(target: str) -> str:
    """The kind of line that leads to a target."""
    return target.partition(":")[0]
