"""Two revisions of a program under git: each checked out into a worktree of its own, and built there.

The worktrees are in a temporary folder, which is removed at the end, also after a failure or an interrupt.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from cuesta.errors import CuestaError, InputError, UsageError
from cuesta.plain_text import plain
from cuesta.private_files import private
from cuesta.target import without_passwords

SHOWN = 30
"""Last rows of a build's output that are shown if it fails."""
UNSHALLOW = "git fetch --unshallow (actions/checkout: fetch-depth: 0)"
"""What to do about a clone without old commits."""
LOOK_EVERY = 0.2
"""Seconds between two looks at whether a build is to be stopped."""


class BuildError(CuestaError):
    """A revision could not be built."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A revision, and where it is checked out while the comparison goes on."""

    name: str
    commit: str
    worktree: Path
    folder: Path
    """The folder in the worktree that the caller stood in: there it is built, and there its program starts."""

    def __str__(self) -> str:
        return f"{self.name} ({self.commit[:10]})"


@dataclass(frozen=True, slots=True)
class Revisions:
    """The two revisions to compare."""

    repository: Path
    base: Revision
    new: Revision
    build: str | None
    """The command that builds a revision; None if nothing is to be built."""

    @property
    def place(self) -> Path:
        """The temporary folder."""
        return self.base.worktree.parent

    @property
    def has_uncommitted_changes(self) -> bool:
        """Whether there are changes in the caller's folder that are not committed, and so in neither revision."""
        return bool(ask_git(self.repository, "status", "--porcelain", "--untracked-files=no"))


def find_revisions(text: str, build: str | None, here: Path) -> Revisions:
    """Find `BASE..NEW`; `BASE...NEW` begins where NEW left BASE. Raises CuestaError."""
    repository = Path(ask_git(here, "rev-parse", "--show-toplevel"))
    prefix = ask_git(here, "rev-parse", "--show-prefix")
    base, dots, new = text.partition("...") if "..." in text else text.partition("..")
    if not dots:
        what = f"cuesta compare: --revisions: expected two revisions, got {text!r}"
        raise UsageError(what, "as --revisions main..HEAD")
    names = (base or "HEAD", new or "HEAD")
    commits = [find_commit(here, name) for name in names]
    if dots == "...":
        commits[0] = find_merge_base(here, names, commits)
    place = Path(tempfile.gettempdir()) / f"cuesta-revisions-{secrets.token_hex(6)}"
    one, other = (
        Revision(plain(name), commit, place / side, place / side / prefix)
        for name, commit, side in zip(names, commits, ("base", "new"), strict=True)
    )
    return Revisions(repository, one, other, build)


def find_commit(here: Path, name: str) -> str:
    """The commit that a name stands for. Raises InputError."""
    try:
        return ask_git(here, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except CuestaError:
        what = f"--revisions: git knows no revision {name!r} here"
        raise InputError(what, f"see `git branch --all`; a shallow clone has few: {UNSHALLOW}") from None


def find_merge_base(here: Path, names: Iterable[str], commits: Iterable[str]) -> str:
    """The last commit that two revisions have in common. Raises InputError."""
    try:
        return ask_git(here, "merge-base", *commits)
    except CuestaError:
        what = f"--revisions: {' and '.join(names)} have no commit in common here"
        raise InputError(what, f"a shallow clone may lack it: {UNSHALLOW}; else write two dots") from None


@contextmanager
def check_out(revisions: Revisions, logs: Path, tell: Callable[[str], None], stop: threading.Event) -> Iterator[None]:
    """Check both out and build them; `logs` gets what the builds print. Raises BuildError, or another CuestaError."""
    revisions.place.mkdir(mode=0o700)
    try:
        for side, revision in (("base", revisions.base), ("new", revisions.new)):
            ask_git(revisions.repository, "worktree", "add", "--detach", str(revision.worktree), revision.commit)
            if not revision.folder.is_dir():
                raise InputError(f"{revision}: it has no folder {revision.folder.relative_to(revision.worktree)}")
            if revisions.build and not stop.is_set():
                tell(f"build {revision}: {plain(without_passwords(revisions.build))}")
                build(revision, revisions.build, logs / f"build-{side}.log", stop)
        yield
    finally:
        remove(revisions)


def build(revision: Revision, command: str, log: Path, stop: threading.Event) -> None:
    """Run the command in the revision's folder. Raises BuildError with the end of its output if it fails."""
    with open(log, "wb", opener=private) as output:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=revision.folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while process.poll() is None and not stop.wait(LOOK_EVERY):
                pass
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode and not stop.is_set():
        rows = log.read_text(encoding="utf-8", errors="replace").splitlines()[-SHOWN:]
        end = "".join(f"\n  {plain(row)}" for row in rows)
        how = f"exit status {process.returncode}" if process.returncode > 0 else f"signal {-process.returncode}"
        raise BuildError(f"the build of {revision} failed, {how}:{end}", f"the whole output is in {log}")


def remove(revisions: Revisions) -> None:
    """Remove the worktrees, and what git knows of them."""
    for revision in (revisions.base, revisions.new):
        with suppress(CuestaError):
            ask_git(revisions.repository, "worktree", "remove", "--force", "--force", str(revision.worktree))
    shutil.rmtree(revisions.place, ignore_errors=True)
    with suppress(CuestaError):
        ask_git(revisions.repository, "worktree", "prune")


def ask_git(folder: Path, *command: str) -> str:
    """What git answers. Raises CuestaError with what it says if it fails."""
    try:
        # Hooks are for the people who work in a repository: they would run at each checkout.
        answer = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", *command], cwd=folder, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise CuestaError("--revisions needs git, which is not installed here", "install git") from None
    if answer.returncode:
        said = plain(answer.stderr.strip()) or f"exit status {answer.returncode}"
        raise CuestaError(f"git {command[0]}: {said}", "see that by hand, in the folder of the program")
    return answer.stdout.strip()
