"""Mistakes that show before a run: users who write the same file, a `settle` that ends while users still log in, and a
probe that is not on a node of its own.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any

from cuesta import _native
from cuesta.engine.job import SECOND, Job
from cuesta.engine.sharing import count_probes
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.plan import Group, Settings, Step
from cuesta.target import BUILTIN_HOST, kind_of
from cuesta.units import many

TYPING_SPEED = 0.05
"""Seconds between two keys of a tape that sets no rate, as VHS types."""
WORD = r"(?P<file>[^\s;|&<>()]+)"
WRITES = [
    re.compile(rf"(?:^|[^<>&=-])>{{1,2}}\s*{WORD}"),
    re.compile(rf"\b(?:vim?|nvim|emacs|nano|pico|micro|joe|ed)\s+(?:[-+]\S*\s+)*(?=[^-+\s]){WORD}"),
    re.compile(
        rf"\b(?:touch|mkdir|rmdir|rm|tee|mv|cp|ln|install|truncate)\s+(?:\S+\s+)*?(?=[^-\s]){WORD}\s*(?:[;|&]|$)"
    ),
    re.compile(rf"\s-o\s*{WORD}"),
    re.compile(rf"^:(?:w|wq|x|sav|saveas)\s+{WORD}"),
]
"""Rows of shells and editors that write a file, with its name."""


def list_warnings(job: Job) -> Iterator[str]:
    """One sentence for each mistake that the plan, its tapes and its targets show, each once."""
    yield from _warn_of_probes(job.plan.settings)
    groups = ((step, group) for step in job.plan.steps for group in step.settings.group)
    yield from dict.fromkeys(warning for step, group in groups for warning in _warnings(job, step, group))


def _warn_of_probes(settings: Settings) -> Iterator[str]:
    """A probe on a node with other users can be as late as they are, by what they share."""
    nodes, probes = settings.node_count, count_probes(settings)
    name = next((group.name for group in settings.group if group.is_probe), "")
    is_ray_here = settings.engine.kind == "ray" and not settings.engine.addresses
    if probes and (nodes == 1 or is_ray_here):
        yield (
            f"{name}: the probe shares a machine with the load, in a process of its own: what slows the whole "
            "machine slows both; --engine and --nodes give it a machine of its own"
        )
    elif probes >= nodes:
        enough = (
            f"name {probes + 1} machines"
            if settings.engine.kind == "ssh"
            else f"--nodes {probes + 1} gives each one of its own"
        )
        yield f"{name}: {probes} probes share {many(nodes - 1, 'node')}: {enough}"


def _warnings(job: Job, step: Step, group: Group) -> Iterator[str]:
    tape = job.tape(group)
    about = json.loads(tape.content.commands())
    if group.users > 1 and _share_account(job, step, group) and (files := fixed_files(about)):
        names, users = ", ".join(f"`{file}`" for file in files), many(group.users, "user")
        own = "give each user a name of their own: a column of --data, as in notes-${user}.txt, or $$ in a shell"
        yield f"{tape.name}: {users} at one account write the same file, {names}; {own}"
    needed, settle = math.ceil(seconds_before_loop(about, group)), step.settings.settle
    if needed * SECOND > settle:
        first = f"{tape.name}: before their first pass users take at least {needed} s"
        yield f"{first}, and settle is {_native.show_duration(settle)}: that would be measured; --settle {needed + 1}s"


def _share_account(job: Job, step: Step, group: Group) -> bool:
    """Whether all users of a group work at one account of the host."""
    if group.target == BUILTIN_HOST:
        return job.service(step).name in ("shell", "socket")
    kind = kind_of(group.target)
    if kind == "ssh":
        return "user" not in job.users_of(group).columns
    return kind in OWN_PROGRAMS or not job.tape(group).content.columns()


def fixed_files(about: dict[str, Any]) -> list[str]:
    """Names of files that a tape writes, the same for each user; `about` is what `cuesta check --json` prints of it."""
    typed = [command["Args"] for command in about["commands"] if command["Type"] == "TYPE"]
    names = (match["file"].strip("'\"") for text in typed for writes in WRITES for match in writes.finditer(text))
    return list(dict.fromkeys(name for name in names if name and "$" not in name and not name.startswith("/dev/")))


def seconds_before_loop(about: dict[str, Any], group: Group) -> float:
    """The least seconds that users take for what a tape does once: its keys and pauses, if answers take no time."""
    once = about["before"]
    if not once:
        return 0.0
    gap = _gap_of(about) if group.key_rate is None else _gap(group.key_rate)
    return float(once["keys"] * gap + once["sleep_s"] + (0.0 if group.think else once["think_s"]))


def _gap_of(about: dict[str, Any]) -> float:
    """Seconds between two keys by the tape's first setting."""
    for command in about["commands"]:
        match command["Type"], command["Options"]:
            case "SET", "KeyRate":
                return _gap(float(command["Args"].removesuffix("cps")))
            case "SET", "TypingSpeed":
                return _native.duration(command["Args"]) / SECOND
    return TYPING_SPEED


def _gap(rate: float) -> float:
    return 1 / rate if rate else 0.0
