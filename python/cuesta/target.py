"""The syntax of targets, `KIND:REST`, without the native module. `line_kinds` has the table of kinds."""

import re
from urllib.parse import parse_qsl

BUILTIN_HOST = "host:"
"""The built-in host, which a run starts itself."""
UNWATCHED = ("tn3270", "tn3270s", "bsc")
"""Kinds of lines that `cuesta record` cannot record: their users do not type at a video terminal."""
LOOPBACK = "127.0.0.1"
"""Where the built-in host listens by default."""


PASSWORD = re.compile(
    r"(://[^/@:\s]*:)[^@\s]*@|((?:password|passphrase|secret|token|api_?key|access_?key)=)[^&\s'\"]*", re.IGNORECASE
)
"""A password in a URL, and the part before it."""


def without_passwords(text: str) -> str:
    """A URL, or a text with URLs, with stars in place of passwords."""
    return PASSWORD.sub(lambda match: f"{match[1]}***@" if match[1] else f"{match[2]}***", text)


def without_settings(target: str) -> str:
    """A target as a sentence names it: without `?identity=…` and the like."""
    return _divided(target)[0]


def settings_of(target: str) -> dict[str, str]:
    """The settings of a target that it writes itself, `?baud=9600&parity=even`, by name."""
    return dict(parse_qsl(_divided(target)[1]))


def _divided(target: str) -> tuple[str, str]:
    """A target without its settings, and these. Commands have none."""
    address, _, settings = target.partition("?")
    return (target, "") if kind_of(target) in ("pty", "pipe") else (address, settings)


def kind_of(target: str) -> str:
    """The kind of line by which a target is reached."""
    return target.partition(":")[0]
