"""The GitHub Action's step, played with the files and variables that a runner gives."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from action import compare as step
from cuesta import __version__
from tests.repositories import commit, git

ROOT = Path(__file__).parents[1]
PROGRAM = """
import os, sys, time, tty
tty.setraw(0)
os.write(1, b"$ ")
while key := os.read(0, 1):
    time.sleep({seconds})
    os.write(1, b"\\b \\b" if key in b"\\b\\x7f" else key)
"""
"""A text box that shows each key after some time."""

Runner = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of a text box: the second shows each key 25 ms later."""
    place = tmp_path / "repository"
    place.mkdir()
    git(place, "init", "--quiet", "--initial-branch", "main")
    for seconds in (0.005, 0.03):
        commit(place, "box.py", PROGRAM.format(seconds=seconds))
    return place


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Plays the step in a checkout, with a runner's variables, an event, and inputs; its files are in `tmp_path`."""

    def play(checkout: Path, event: Mapping[str, Any], **inputs: str) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "event.json").write_text(json.dumps(event))
        files = {"GITHUB_EVENT_PATH": "event.json", "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary.md"}
        environment = {name: str(tmp_path / file) for name, file in files.items()}
        environment |= {"RUNNER_TEMP": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        environment |= {f"INPUT_{name.upper()}": value for name, value in inputs.items()}
        command = [sys.executable, str(ROOT / "action" / "compare.py")]
        return subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)

    return play


@pytest.mark.parametrize(
    ("event", "revisions"),
    [
        ({"pull_request": {"base": {"sha": 4 * "0123456789"}}}, "0123456789...HEAD"),
        ({"merge_group": {"base_sha": 4 * "0123456789"}}, "0123456789..HEAD"),
        ({"before": 4 * "0123456789", "after": "def"}, "0123456789..HEAD"),
        ({"before": step.NO_COMMIT, "repository": {"default_branch": "trunk"}}, "origin/trunk...HEAD"),
        ({}, "HEAD^..HEAD"),
    ],
)
def test_an_event_tells_what_to_compare_with(event: Mapping[str, Any], revisions: str) -> None:
    assert step.find_revisions(event, "", "HEAD") == revisions
    assert step.find_revisions(event, "v1.0", "HEAD") == "v1.0..HEAD", "an input goes before"


def test_a_shallow_checkout_is_told_what_to_set(tmp_path: Path, repository: Path, runner: Runner) -> None:
    base = git(repository, "rev-parse", "HEAD^").strip()
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{repository}", "shallow")
    played = runner(tmp_path / "shallow", {"pull_request": {"base": {"sha": base}}}, target="pty:python3 box.py")
    assert played.returncode == 1
    assert re.search(f"^::error title=Cuesta::.*no revision '{base[:10]}'.*fetch-depth: 0", played.stdout, re.MULTILINE)


def test_an_unknown_revision_is_named(repository: Path, runner: Runner) -> None:
    played = runner(repository, {}, target="pty:python3 box.py", base="v9")
    assert played.returncode == 1
    assert re.search("^::error title=Cuesta::.*git knows no revision 'v9' here", played.stdout, re.MULTILINE)


def test_an_unknown_value_of_fail_on_is_refused(repository: Path, runner: Runner) -> None:
    played = runner(repository, {}, target="pty:python3 box.py", fail_on="always")
    assert (played.returncode, played.stdout) == (2, "::error title=Cuesta::fail-on: expected `worse` or `never`\n")


@pytest.mark.parametrize(
    ("verdict", "fails", "level"),
    [("worse", True, "error"), ("worse", False, "warning"), ("cannot tell", True, "warning"), ("no worse", True, None)],
)
def test_only_worse_is_an_error(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    verdict: str,
    fails: bool,
    level: str | None,
) -> None:
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
        monkeypatch.setenv(name, str(tmp_path / name))
    result = {"verdict": verdict, "sentence": "100 % of it:\nlater"}
    step.tell(result, Path("page.html"), "### Comparison", fails)
    shown = f"::{level} title=Cuesta::100 %25 of it:%0Alater\n" if level else ""
    assert capsys.readouterr().out == shown
    written = (tmp_path / "GITHUB_OUTPUT").read_text()
    assert written == f"verdict={verdict}\nsentence=100 % of it: later\npage=page.html\n"
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == "### Comparison"


def test_the_annotation_of_a_failure_is_its_message() -> None:
    rows = ["cuesta: no --tape: ...\n", "rehearsal: main\n", "cuesta: the build failed:\n", "  no compiler\n"]
    assert step.take_error(rows) == "cuesta: the build failed:\n  no compiler"
    assert step.take_error(["Killed\n"]) == "Killed"


def test_a_page_has_the_name_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPUT_ARTIFACT", "a/b")
    with pytest.raises(step.StepError, match="artifact: expected the name of a file, got a/b"):
        step.compare("main..HEAD")


def test_a_long_summary_is_cut_to_what_github_takes() -> None:
    assert len(step.cut("é" * step.MOST_BYTES).encode()) <= step.MOST_BYTES
    assert step.cut("short") == "short"


def test_each_input_reaches_the_script_and_is_described(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "action.yml").read_text()
    inputs = set(re.findall(r"^  ([a-z-]+):$", text.partition("\noutputs:")[0], re.MULTILINE))
    passed = set(re.findall(r"\$\{\{ inputs\.([a-z-]+) \}\}", text))
    assert inputs == passed
    of_steps = {"version", "working-directory"}
    for name in passed - of_steps:
        monkeypatch.setenv(f"INPUT_{name.upper().replace('-', '_')}", f"the {name}")
    flags = ["build", "tape", "margin", "budget"]
    words = [f"--{name}=the {name}" for name in flags]
    assert step.list_arguments("main..HEAD", {}) == ["--revisions=main..HEAD", *words, "--", "the target"]
    read = set(re.findall(r'given\("([A-Z_]+)"', (ROOT / "action" / "compare.py").read_text()))
    assert {name.lower().replace("_", "-") for name in read} | {*flags} | of_steps == inputs


def test_the_version_is_that_of_the_action() -> None:
    (wanted,) = re.findall(r'"" *\) wanted=(.*) ;;', (ROOT / "action.yml").read_text())
    environment = {"PATH": "/usr/bin:/bin", "GITHUB_ACTION_PATH": str(ROOT)}
    echoed = subprocess.check_output(["bash", "-c", f"echo {wanted}"], env=environment, text=True)
    assert echoed == f"cuesta=={__version__}\n"


@pytest.mark.nightly
def test_a_slower_revision_fails_the_step(tmp_path: Path, repository: Path, runner: Runner) -> None:
    base = git(repository, "rev-parse", "HEAD^").strip()
    event = {"pull_request": {"base": {"sha": base}}}
    built = "echo ::error::no command of GitHub"
    played = runner(repository, event, target=f"pty:{sys.executable} box.py", build=built, margin="10%", budget="2m")
    assert played.returncode == 1, played.stderr
    stop, *_, go_on, error = played.stdout.splitlines()
    assert stop.startswith("::stop-commands::")
    assert go_on == f"::{stop.removeprefix('::stop-commands::')}::", "what is printed between has no meaning to GitHub"
    assert re.search(r"^::error title=Cuesta::.*later than.*slower", error)
    outputs = dict(row.split("=", 1) for row in (tmp_path / "output").read_text().splitlines())
    assert outputs["verdict"] == "worse"
    assert Path(outputs["page"]).read_text().startswith("<!DOCTYPE html>")
    assert "█" in (tmp_path / "summary.md").read_text(), "the plot"
