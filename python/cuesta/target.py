"""The syntax of targets, `KIND:REST`, without the native module. `line_kinds` has the table of kinds."""

import re
from ipaddress import ip_address

BUILTIN_HOST = "host:"
"""The built-in host, which a run starts itself."""
LOOPBACK = "127.0.0.1"
"""Where the built-in host listens by default."""
PASSWORD = re.compile(
    r"(://[^/@:\s]*:)(?:[^/\s]*|\S*)@"
    r"|((?:password|passwd|passphrase|secret|token|ticket|auth|session|cookie|api_?key|access_?key)=)"
    r"(?!\{\w+\}(?:[&#\s'\"]|$)|env:\w+(?:[&\s'\"]|$))[^&\s'\"]*",
    re.IGNORECASE,
)
"""A password in a URL, and the part before it. `{column}` and `env:NAME` only name where one is."""


def without_passwords(text: str) -> str:
    """A URL, or a text with URLs, with stars in place of passwords."""
    return PASSWORD.sub(lambda match: f"{match[1]}***@" if match[1] else f"{match[2]}***", text)


def kind_of(target: str) -> str:
    """The kind of line by which a target is reached."""
    return target.partition(":")[0]


def is_address(value: object) -> bool:
    """Whether a value is an address of IP, as text."""
    try:
        return isinstance(value, str) and bool(ip_address(value))
    except ValueError:
        return False
