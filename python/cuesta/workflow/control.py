"""How a caller watches and stops what runs."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from cuesta.engine.ports import Observer


def ignore(_: object) -> None:
    """Look at nothing, say nothing."""


@dataclass(frozen=True, slots=True)
class Control:
    """What a run calls while it goes on, and what stops it."""

    observer: Observer = ignore
    """Receives the newest snapshots of all agents, a few times a second."""
    tell: Callable[[str], None] = ignore
    """Receives sentences for people: what a trial showed, which pair begins."""
    stop: threading.Event = field(default_factory=threading.Event)
    """If set, the run ends early and keeps what was measured."""
