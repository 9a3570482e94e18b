"""A missing or old toolchain is reported in one row, before anything is installed."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = ("bash", "dirname", "sed", "sort", "head", "cut", "cat", "find", "xargs", "sha256sum")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the files that setup reads, and a folder of fake programs that all seem fine."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    shutil.copy(ROOT / "Cargo.toml", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in PLAIN:
        (programs / name).symlink_to(shutil.which(name) or name)
    program(programs / "cargo", "exit 0")
    program(programs / "rustc", "echo 'rustc 1.99.0 (abc 2026-01-01)'")
    program(programs / "python3", "exit 0")
    program(programs / "cc", "exit 0")
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def setup(project: Path) -> "subprocess.CompletedProcess[str]":
    command = [str(project / "scripts" / "setup")]
    env = {"PATH": str(project / "bin")}
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cargo", "no Rust: install Rust 1."),
        ("python3", "no Python: apt-get install python3"),
        ("cc", "no C linker (cc): apt-get install gcc"),
    ],
)
def test_a_missing_tool(project: Path, name: str, text: str) -> None:
    (project / "bin" / name).unlink()
    ran = setup(project)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(f"setup: {text}")
    assert not (project / ".venv").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("rustc", "echo 'rustc 1.63.0 (4b91a6ea7 2022-08-08)'", "rustc 1.63.0 is too old: Cuesta needs 1."),
        ("python3", "[ $1 = --version ] && echo 'Python 3.9.2'; exit 1", "Python 3.9.2 is too old: Cuesta needs"),
        ("python3", "case $2 in *version*) exit 0;; *) exit 1;; esac", "Python has no venv: apt-get install"),
    ],
)
def test_an_old_tool(project: Path, name: str, text: str, message: str) -> None:
    program(project / "bin" / name, text)
    ran = setup(project)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith(f"setup: {message}")
    assert not (project / ".venv").exists()
