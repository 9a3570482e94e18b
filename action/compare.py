"""The step of the GitHub Action (action.yml) that compares two revisions, and reports the verdict to GitHub.

It reads the action's inputs as INPUT_*, and the runner's GITHUB_* and RUNNER_TEMP. It calls `cuesta compare` and
writes annotations, the step summary and the outputs. Needs only the standard library and an installed Cuesta.
"""

import json
import os
import secrets
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

VERDICTS = {0: "no worse", 90: "worse", 91: "cannot tell", 92: "refused", 97: "not valid"}
"""The exit codes of `cuesta compare` after which there is an answer."""
MOST_BYTES = 1024 * 1024 - 1
"""GitHub drops a step summary of 1 MiB."""
MOST_ROWS = 40
"""Last rows of messages that an annotation shows."""
NO_COMMIT = "0" * 40
"""What GitHub calls the commit before the first of a branch."""


class StepError(Exception):
    """The revisions cannot be compared: why, and what to do."""


def main() -> int:
    """Compare, report the verdict to GitHub, and return the exit code of the step."""
    try:
        fails = {"worse": True, "never": False}[given("FAIL_ON", "worse")]
    except KeyError:
        annotate("error", "fail-on: expected `worse` or `never`")
        return 2
    try:
        revisions = find_revisions(read_event(), given("BASE"), given("HEAD", "HEAD"))
        result, page, details = compare(revisions)
    except StepError as error:
        annotate("error", str(error))
        return 1
    tell(result, page, details, fails)
    return int(fails and result["verdict"] == "worse")


def given(name: str, default: str = "") -> str:
    """An input of the action."""
    return os.environ.get(f"INPUT_{name}", "").strip() or default


def read_event() -> Mapping[str, Any]:
    """The event that started the workflow, from the file that GitHub names."""
    path = os.environ.get("GITHUB_EVENT_PATH")
    event: Mapping[str, Any] = json.loads(Path(path).read_text(encoding="utf-8")) if path else {}
    return event


def find_revisions(event: Mapping[str, Any], base: str, head: str) -> str:
    """`BASE..HEAD`; of a pull request `BASE...HEAD`, which begins where HEAD left BASE."""
    if base:
        return f"{base}..{head}"
    if "pull_request" in event:
        return f"{shorten(event['pull_request']['base']['sha'])}...{head}"
    if "merge_group" in event:
        return f"{shorten(event['merge_group']['base_sha'])}..{head}"
    before = event.get("before", f"{head}^")
    if before == NO_COMMIT:
        branch = event.get("repository", {}).get("default_branch", "main")
        return f"origin/{branch}...{head}"
    return f"{shorten(before)}..{head}"


def shorten(commit: str) -> str:
    """The first digits of a commit, by which people know it."""
    return commit[:10]


def compare(revisions: str) -> tuple[Mapping[str, Any], Path, str]:
    """Run `cuesta compare`; returns its JSON, the page, and what it says as Markdown. Raises StepError."""
    name = given("ARTIFACT", "cuesta")
    if Path(name).name != name:
        raise StepError(f"artifact: expected the name of a file, got {name}")
    place = Path(os.environ["RUNNER_TEMP"]) / f"{name}-comparison"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    files = {"json": place / "comparison.json", "markdown": place / "comparison.md", "out": place / "runs"}
    command = [sys.executable, "-P", "-m", "cuesta", "compare", *list_arguments(revisions, files)]
    with no_commands(), subprocess.Popen(command, stderr=subprocess.PIPE, text=True, errors="replace") as process:
        last = deque[str](maxlen=MOST_ROWS)
        for row in process.stderr or ():
            sys.stderr.write(row)
            last.append(row)
    if process.returncode not in VERDICTS or not files["json"].exists():
        raise StepError(take_error(list(last)) or f"cuesta compare ended with {process.returncode}")
    page = place / f"{name}.html"
    shutil.copy(files["out"] / "report.html", page)
    return json.loads(files["json"].read_text(encoding="utf-8")), page, files["markdown"].read_text(encoding="utf-8")


def take_error(rows: Sequence[str]) -> str:
    """The last message: from its row, which begins with `cuesta: `, to the end."""
    begins = [number for number, row in enumerate(rows) if row.startswith("cuesta: ")]
    return "".join(rows[begins[-1] :] if begins else rows).strip()


def list_arguments(revisions: str, files: Mapping[str, Path]) -> list[str]:
    """Those of `cuesta compare`, by the inputs; `files` are what it writes, by flag."""
    inputs = {name.lower(): given(name) for name in ("BUILD", "TAPE", "MARGIN", "BUDGET")}
    words = [f"--{name}={value}" for name, value in {**inputs, **files}.items() if value]
    return [f"--revisions={revisions}", *words, "--", given("TARGET")]


@contextmanager
def no_commands() -> Iterator[None]:
    """Make GitHub ignore workflow commands in what is printed within the block: a build may print anything."""
    token = secrets.token_hex(16)
    write_row(f"::stop-commands::{token}")
    try:
        yield
    finally:
        write_row(f"::{token}::")


def write_row(row: str) -> None:
    sys.stdout.write(f"{row}\n")
    sys.stdout.flush()


def tell(result: Mapping[str, Any], page: Path, details: str, fails: bool) -> None:
    """Write the annotation, the outputs and the summary."""
    verdict, sentence = result["verdict"], result["sentence"]
    if verdict != "no worse":
        annotate("error" if verdict == "worse" and fails else "warning", sentence)
    for name, value in {"verdict": verdict, "sentence": sentence, "page": str(page)}.items():
        append("GITHUB_OUTPUT", f"{name}={' '.join(value.split())}\n")
    append("GITHUB_STEP_SUMMARY", cut(details))


def annotate(level: str, text: str) -> None:
    """Print an annotation, which GitHub shows at the run; the first characters of a row have a meaning to it."""
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    write_row(f"::{level} title=Cuesta::{escaped}")


def append(variable: str, text: str) -> None:
    """Append to the file that an environment variable names."""
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(text)


def cut(text: str) -> str:
    """The text, shortened to what GitHub takes."""
    encoded = text.encode()
    if len(encoded) <= MOST_BYTES:
        return text
    end = "\n\n(cut: the page has the rest)\n"
    return encoded[: MOST_BYTES - len(end)].decode(errors="ignore") + end


if __name__ == "__main__":
    sys.exit(main())
