"""The text of `--path`: whose keys are followed through the host.

WHICH = "auto" | "none" | "1/" N | GROUP

`1/30` is every 30th user by number, beginning with user 0, without groups in the background; a GROUP is all its users.
"""

import re
from collections.abc import Collection

from cuesta.plan.meter_places import list_hosts, tracing_tier
from cuesta.plan.reading import read_text, refuse

AUTO, NONE, USUAL = "auto", "none", "1/30"
NAME = re.compile(r"[\w.-]{1,64}", re.ASCII)
_SHARE = re.compile(r"1/([1-9]\d{0,6})", re.ASCII)


def read_path(value: object) -> str:
    """Read a value of --path. Raises ValueError with what is wrong."""
    text = read_text(value)
    return text if _SHARE.fullmatch(text) or NAME.fullmatch(text) else refuse("every 30th user is written 1/30")


def resolve_path(path: str, meters: str) -> str:
    """The path without `auto`, which is the usual share if the meters of a host trace its kernel."""
    if path != AUTO:
        return path
    return USUAL if any(tracing_tier(host.where) for host in list_hosts(meters)) else NONE


def check_group(path: str, groups: Collection[str]) -> None:
    """Raise ValueError if a path names a group that is none."""
    if path != NONE and not _SHARE.fullmatch(path) and path not in groups:
        names = ", ".join(f"`{name}`" for name in groups)
        refuse(f"`path` follows a group `{path}`, and the plan has {names}; write one of these, `none` or `1/30`")


def count_off(path: str, group: str, background: bool) -> int:
    """N, if every Nth user of a group is followed by a resolved path; 0 if none is."""
    if share := _SHARE.fullmatch(path):
        return 0 if background else int(share[1])
    return int(path == group)
