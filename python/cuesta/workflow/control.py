"""Where a caller has runs made, and how it watches and stops them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from cuesta.engine.console import Console
from cuesta.engine.engines import open_engine
from cuesta.engine.job import Job, most_users_at
from cuesta.engine.ports import Engine
from cuesta.engine.ssh import prepare_ssh
from cuesta.plan import Settings
from cuesta.target import kind_of


def ignore(_: object) -> None:
    """Drop a message."""


def keep_locked(_prompt: str) -> str:
    """Give no passphrase: the key is left out."""
    return ""


@dataclass(frozen=True, slots=True)
class Control:
    """What a run calls while it goes on, what stops it, and where it is made."""

    console: Console = field(default_factory=Console)
    """Who watches its runs, and what stops and steers them."""
    tell: Callable[[str], None] = ignore
    """Receives sentences on the progress: what a trial showed, which pair begins."""
    warn: Callable[[str], None] = ignore
    """Receives sentences on what has no effect."""
    ask: Callable[[str], str] = keep_locked
    """Gives the passphrase of a key file, by a prompt that names it; empty: without this key."""
    engine: Engine | None = None
    """Where runs are made, whatever their plans say."""

    def open_engine(self, settings: Settings) -> AbstractContextManager[Engine]:
        """Have the engine during the block: the caller's, else the plan's. Raises CuestaError if it cannot be had."""
        return nullcontext(self.engine) if self.engine else open_engine(settings, self.tell)

    def prepare_lines(self, job: Job) -> None:
        """Warn of what the lines of a job ignore; ask for what they need. Raises CuestaError if they cannot open."""
        for group in {group.target: group for step in job.plan.steps for group in step.settings.group}.values():
            if kind_of(group.target) == "ssh":
                users = job.users_of(group).first(most_users_at(job, "ssh"))
                prepare_ssh(group.target, users, self.warn, self.ask)
