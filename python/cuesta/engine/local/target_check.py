"""Checks from this machine that a target can be reached: its address, a login, the programs and files that it names."""

import re
import shlex
import socket
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote, urlsplit

from cuesta import _native
from cuesta.engine.node_needs import Lack, TargetNeeds
from cuesta.errors import CuestaError
from cuesta.line_kinds import OWN_PROGRAMS, port_of, row_of, settings_of
from cuesta.target import BUILTIN_HOST, kind_of

PATIENCE = 5.0
"""Seconds within which a target must accept a line."""
BEFORE_A_PROGRAM = re.compile(r"exec|env|\w+=.*", re.DOTALL)
"""Words of a command that may precede the program's name."""
FILES = ("certificate", "ca", "cert", "key")
"""Settings of targets that name files."""
WITHOUT_ADDRESS = (*OWN_PROGRAMS, "serial", "host")
"""Kinds of lines that are no connections, and the built-in host, whose address is known when it runs."""


def find_target_lacks(needs: TargetNeeds, here: Path = Path()) -> Iterator[Lack]:
    """Find what keeps users of this machine from a target. A login is tried as its user; programs start in `here`.

    Nothing of the built-in host is tried: it does not run yet.
    """
    target, user = needs.target, needs.user
    if target == BUILTIN_HOST:
        return
    missing = list_missing_files(target, user, here)
    try:
        if takes_code(target, user):
            resolve(target, user)
        elif kind_of(target) == "ssh" or not missing:
            probe(target, user, here)
            missing = []
    except CuestaError as error:
        missing = missing or [Lack(hide_cells(str(error), needs), error.remedy)]
    yield from missing


def hide_cells(said: str, needs: TargetNeeds) -> str:
    """A text without the user's secret cells: a host may quote what was in its address."""
    cells = [cell for column in needs.secret if (cell := needs.user.get(column))]
    for form in sorted({*cells, *(quote(cell, safe="") for cell in cells)}, key=len, reverse=True):
        said = said.replace(form, "…")
    return said


def list_missing_files(target: str, user: Mapping[str, str], here: Path) -> list[Lack]:
    """The files that a target names and that cannot be used here."""
    if kind_of(target) == "ssh":
        return [Lack(f"{target}: {why}") for why in login_needs(target, user)[1]]
    settings, lacks = settings_of(target), list[Lack]()
    for file in (settings[name] for name in FILES if name in settings):
        try:
            (here / file).open("rb").close()
        except OSError as error:
            lacks.append(Lack(f"{target}: {file} cannot be used: {error.strerror}", "copy it to this machine"))
    return lacks


def takes_code(target: str, user: Mapping[str, str]) -> bool:
    """Whether a login takes a one-time code, which the first user needs."""
    return kind_of(target) == "ssh" and bool("code" in settings_of(target) or user.get("code") or user.get("totp"))


def login_needs(target: str, user: Mapping[str, str]) -> tuple[str | None, list[str]]:
    """See `_native.ssh_login_needs`. Raises CuestaError if the ssh configuration cannot be used."""
    try:
        return _native.ssh_login_needs(target, dict(user))
    except _native.RunError as error:
        raise CuestaError(f"{target}: {error}") from None


def find_address(target: str, user: Mapping[str, str]) -> tuple[str, int] | None:
    """The host and the port to which lines are opened; None if these are no connections of the driver."""
    if kind_of(target) in WITHOUT_ADDRESS:
        return None
    if kind_of(target) == "ssh":
        address = login_needs(target, user)[0]
        place = urlsplit(f"//{address}") if address else None
        return (place.hostname or "", place.port or 0) if place else None
    return urlsplit(target).hostname or "", port_of(target)


def resolve(target: str, user: Mapping[str, str]) -> frozenset[tuple[str, int]]:
    """The network addresses of a target, as this machine knows them; none if lines are no connections of the driver.

    Raises CuestaError if its name has none.
    """
    if (address := find_address(target, user)) is None:
        return frozenset()
    try:
        found = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)
    except OSError as error:
        raise unreachable(target, error) from None
    return frozenset((str(place[0]), int(place[1])) for *_, place in found)


def probe(target: str, user: Mapping[str, str], here: Path = Path()) -> None:
    """Raise CuestaError if the target cannot be reached. A line that needs a login is opened as `user`.

    A 3270's logical unit is not spent on it: the first user needs it.
    """
    kind, settings = row_of(target), settings_of(target)
    names_unit = kind["terminal"] == "block" and ("lu" in settings or user.get("lu"))
    if kind["only_connects"] or names_unit:
        connect(target)
    elif kind["starts_program"]:
        find_program(target, here)
    else:
        try:
            _native.probe(target, dict(user))
        except _native.RunError as error:
            raise CuestaError(f"{target}: {error}") from None


def find_program(target: str, here: Path = Path()) -> None:
    """Raise CuestaError if a command's program does not exist. Commands that only a shell can read are not checked."""
    try:
        words = shlex.split(target.partition(":")[2])
    except ValueError:
        return
    word = next((word for word in words if not BEFORE_A_PROGRAM.fullmatch(word)), "")
    if not re.fullmatch(r"[\w./+][\w./+-]*", word):  # an option of `env` or `exec`, or something only the shell reads
        return
    command = ["/bin/sh", "-c", 'command -v "$0"', word]
    if subprocess.run(command, stdout=subprocess.DEVNULL, check=False, cwd=here).returncode:
        remedy = f"install `{word}` on this machine, or type at another host: --target URL"
        raise CuestaError(f"{kind_of(target)}: there is no program `{word}` here", remedy)


def connect(target: str) -> None:
    """Open one line to a network address and close it."""
    try:
        socket.create_connection((urlsplit(target).hostname, port_of(target)), PATIENCE).close()
    except OSError as error:
        raise unreachable(target, error) from None


def unreachable(target: str, error: OSError) -> CuestaError:
    why = "no answer within 5 s" if isinstance(error, TimeoutError) else (error.strerror or str(error)).lower()
    remedy = "check its address and that it is running, or leave --target out for the built-in host"
    return CuestaError(f"{target}: cannot be reached: {why}", remedy)
