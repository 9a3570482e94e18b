"""Repositories of git that tests make."""

import subprocess
from pathlib import Path


def git(folder: Path, *command: str) -> str:
    """What git prints, as somebody without a configuration."""
    identity = ("-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *identity, *command], cwd=folder, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, file: str, text: str) -> None:
    """Write a file and commit it, with all other changes."""
    (folder / file).parent.mkdir(exist_ok=True)
    (folder / file).write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", f"Write {file}")
