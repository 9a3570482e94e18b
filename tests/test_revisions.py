"""Two revisions of git: found, checked out apart, built, and removed again."""

import os
import threading
from pathlib import Path

import pytest

from cuesta.errors import CuestaError, InputError, UsageError
from cuesta.revisions import BuildError, check_out, find_revisions
from cuesta.workflow.control import ignore
from cuesta.workflow.version_names import name_revisions
from tests.repositories import commit, git


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two commits on main, and a branch that left it before the second."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "sub/source", "one")
    git(folder, "branch", "topic")
    commit(folder, "sub/source", "two")
    git(folder, "checkout", "-q", "topic")
    commit(folder, "sub/source", "of topic")
    return folder


def left_over(repository: Path) -> list[str]:
    """What is left of the worktrees."""
    known = git(repository, "worktree", "list", "--porcelain").count("worktree ")
    return [*(path.name for path in (repository.parent / "tmp").iterdir()), *["a worktree"] * (known - 1)]


def test_both_are_built_in_folders_of_their_own_which_are_removed(repository: Path, tmp_path: Path) -> None:
    (repository / "sub" / "source").write_text("changed")
    revisions = find_revisions("main..topic", "cp source built; pwd", repository / "sub")
    assert (revisions.base.name, revisions.new.name) == ("main", "topic")
    assert revisions.has_uncommitted_changes
    told: list[str] = []
    with check_out(revisions, tmp_path, told.append, threading.Event()):
        built = [(each.folder / "built").read_text() for each in (revisions.base, revisions.new)]
    assert built == ["two", "of topic"]
    assert (tmp_path / "build-new.log").read_text() == f"{revisions.new.folder}\n"
    assert told[0] == f"build main ({revisions.base.commit[:10]}): cp source built; pwd"
    assert left_over(repository) == []
    assert (repository / "sub" / "source").read_text() == "changed"


def test_three_dots_begin_where_the_branch_began(repository: Path, tmp_path: Path) -> None:
    revisions = find_revisions("main...topic", None, repository)
    with check_out(revisions, tmp_path, ignore, threading.Event()):
        assert (revisions.base.folder / "sub" / "source").read_text() == "one"
    assert left_over(repository) == []


def test_revisions_without_a_common_commit_are_named(repository: Path) -> None:
    git(repository, "checkout", "-q", "--orphan", "apart")
    commit(repository, "sub/source", "of no other")
    with pytest.raises(InputError, match="--revisions: main and apart have no commit in common here") as found:
        find_revisions("main...apart", None, repository)
    assert "fetch-depth: 0" in str(found.value.remedy)


def test_what_is_left_out_is_the_current_revision(repository: Path) -> None:
    revisions = find_revisions("main..", None, repository)
    assert (revisions.new.name, revisions.new.commit) == ("HEAD", git(repository, "rev-parse", "topic").strip())
    assert not revisions.has_uncommitted_changes
    assert name_revisions(find_revisions("..", None, repository)) == ("first", "second")


def test_a_build_that_fails_is_named_with_the_end_of_its_output(repository: Path, tmp_path: Path) -> None:
    revisions = find_revisions("main..topic", "seq 50; echo 'no \x1b[31mcompiler'; exit 3", repository)
    with pytest.raises(BuildError) as found, check_out(revisions, tmp_path, ignore, threading.Event()):
        pytest.fail("it was built")
    failure = found.value
    assert str(failure).startswith(f"the build of main ({revisions.base.commit[:10]}) failed, exit status 3:")
    assert str(failure).endswith("\n  50\n  no �[31mcompiler")
    assert "\n  10\n" not in str(failure)
    assert failure.remedy == f"the whole output is in {tmp_path / 'build-base.log'}"
    assert left_over(repository) == []


def test_an_interrupt_ends_a_build_and_what_it_started(repository: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    marker = tmp_path / "started"
    revisions = find_revisions("main..topic", f"sleep 1000 & echo $! > {marker}; wait", repository)
    waiting = threading.Thread(target=stop_when_started, args=(marker, stop))
    waiting.start()
    with check_out(revisions, tmp_path, ignore, stop):
        pass
    waiting.join()
    while has_state(int(marker.read_text()), "SR"):
        stop.wait(0.01)
    assert left_over(repository) == []


def stop_when_started(marker: Path, stop: threading.Event) -> None:
    polled = threading.Event()
    while not (marker.exists() and marker.read_text()):
        polled.wait(0.01)
    stop.set()


def has_state(pid: int, states: str) -> bool:
    """Whether a process is in one of these states of `/proc`; one that was killed may wait to be reaped."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in states
    except OSError:
        return False


def test_an_error_during_the_runs_removes_the_worktrees_too(repository: Path, tmp_path: Path) -> None:
    revisions = find_revisions("main..topic", None, repository)
    with pytest.raises(ZeroDivisionError), check_out(revisions, tmp_path, ignore, threading.Event()):
        raise ZeroDivisionError
    assert left_over(repository) == []


def test_hooks_do_not_run(repository: Path, tmp_path: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook\n")
    hook.chmod(0o755)
    with check_out(find_revisions("main..topic", None, repository), tmp_path, ignore, threading.Event()):
        pass
    assert not (tmp_path / "hook").exists()


def test_revisions_that_cannot_be_compared_are_named(repository: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="expected two revisions, got 'main'"):
        find_revisions("main", None, repository)
    for unknown in ("none", "--upload-pack=x"):
        with pytest.raises(InputError, match="git knows no revision"):
            find_revisions(f"main..{unknown}", None, repository)
    with pytest.raises(CuestaError, match=r"git rev-parse: .*not a git repository"):
        find_revisions("main..topic", None, tmp_path)
