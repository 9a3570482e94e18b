"""Typing at a real host whose keys are followed, and what must hold of each path."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from cuesta.analysis.path.derive import join_run
from cuesta.analysis.path.followed_key import KeyPath
from cuesta.analysis.path.join import CONTROL_KEY, JoinedHost, JoinedKey
from cuesta.cli import main
from cuesta.errors import Exit
from cuesta.ledger.run_folder import open_run
from tests.busy import BUSY

AT_PROMPT = r"""
Set Echo timed
Set KeyRate 8cps
Set Prompt /\$ $/
Wait+Prompt
Forever
  Type "echo abc"
  Enter
  Wait+Prompt
End
"""
PLAN = (
    """
path = "1/1"
tape = "keys.tape"
stagger = "20ms"
settle = "500ms"
measure = "3s"
"""
    + BUSY
)
CLOSES = 50_000, 0.01
"""Most ns, and most of its whole, that a path may leave unexplained, or have twice."""
OTHERS = 0.01
"""At most this share of keys has no path of its own, or a wrong one."""
FALSE_ALARM = 1e-4
"""The chance at which a host with just that share fails a test."""


def join(here: Path, target: str, *flags: str, meters: str = "machine", ends: Exit = Exit.GOOD) -> list[JoinedHost]:
    """Carry out `plan.toml` in a folder; the followed keys at each host that was traced."""
    command = ["run", "plan.toml", "--target", target, "--meters", meters, *flags, "--out", "out", "--quiet"]
    assert main([*command, "--json", str(here / "out.json")]) == ends
    return join_run(open_run(here / "out"))


def follow(here: Path, target: str, *flags: str) -> list[JoinedKey]:
    """The keys that were echoed, but for those that the tracer leaves out on purpose."""
    (joined,) = join(here, target, *flags)
    return select_echoed(joined)


def select_echoed(joined: JoinedHost) -> list[JoinedKey]:
    return [key for key in joined.keys if key.followed.row.what == "echo" and key.missing != CONTROL_KEY]


def find_paths(keys: Iterable[JoinedKey]) -> list[KeyPath]:
    return [KeyPath.from_joined(key) for key in keys if key.path]


def list_tasks(key: KeyPath) -> tuple[str, ...]:
    """The tasks that a key passes, in order."""
    way = [task for task in key.chain if task]
    return tuple(task for task, before in zip(way, ["", *way], strict=False) if task != before)


def allow(keys: int) -> int:
    """The most of these keys that may be wrong by chance: more refutes the share (binomial test)."""
    chance = (1 - OTHERS) ** keys
    wrong, at_most = 0, chance
    while 1 - at_most > FALSE_ALARM:
        chance *= (keys - wrong) / (wrong + 1) * OTHERS / (1 - OTHERS)
        wrong += 1
        at_most += chance
    return wrong


def assert_followed(keys: Sequence[JoinedKey], ways: Collection[tuple[str, ...]], at_least: int) -> list[KeyPath]:
    """Nearly all keys have a path through the tasks of one of the `ways`, and their hops sum up."""
    paths = find_paths(keys)
    assert len(keys) >= at_least
    found = Counter(map(list_tasks, paths))
    right = sum(found[way] for way in ways)
    assert len(keys) - right <= allow(len(keys)), (Counter(key.missing for key in keys), found)
    assert_sums(paths)
    return paths


def assert_sums(paths: Sequence[KeyPath]) -> None:
    """The hops of nearly all are the host's time, and that is never longer than the echo."""
    not_closed = [key for key in paths if abs(key.unclosed) > CLOSES[0] + CLOSES[1] * key.ns]
    assert len(not_closed) <= allow(len(paths)), not_closed
    assert [key for key in paths if key.outside < 0] == []
