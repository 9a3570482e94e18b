"""No text of a run folder, whoever wrote it, reaches a terminal, a page or a file with characters that control one."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cuesta
from cuesta.analysis.summary import Summary, summarise
from cuesta.cli.main import main
from cuesta.cli.output import write_json
from cuesta.errors import CuestaError
from cuesta.json_text import json_text
from cuesta.plain_text import plain, plain_rows
from cuesta.report import several
from cuesta.report.junit import write_junit
from cuesta.report.run_report import text
from cuesta.terminal import Styled, show
from tests.report import made_up
from tests.run_folder import Row

HOSTILE = "\x1b[2J\x9b31m\x07\b\r\x7f\N{RIGHT-TO-LEFT OVERRIDE}\N{LEFT-TO-RIGHT ISOLATE}\N{ZERO WIDTH SPACE}\u2028"
"""Clears the screen, colours, rings, overwrites, turns text round, hides and breaks rows."""
Place = tuple[str, int, tuple[str | int, ...]]
"""A file, the number of its document, and the path of a text in it; a path that ends in None is of a key."""


def documents(file: Path) -> list[Any]:
    content = file.read_text()
    return [json.loads(row) for row in content.splitlines()] if file.suffix == ".jsonl" else [json.loads(content)]


def texts(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The paths of all texts in a document."""
    if isinstance(value, str):
        yield path
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in items:
        yield from texts(part, (*path, name))


def places(folder: Path) -> Iterator[Place]:
    """Where texts are in the records of a folder; of rows of one shape only the first and the last."""
    for file in sorted((*folder.rglob("*.json"), *folder.rglob("*.jsonl"))):
        rows = documents(file)
        for number in sorted({0, len(rows) - 1}):
            yield from ((str(file.relative_to(folder)), number, path) for path in texts(rows[number]))


def poison(folder: Path, place: Place) -> str:
    """Add the hostile characters to a text; returns the file as it was."""
    name, number, path = place
    file = folder / name
    before = file.read_text()
    rows = documents(file)
    part = rows[number]
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] += HOSTILE
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return before


def with_words_of_the_host(folder: Path) -> Path:
    """Add what records hold of texts that a host sent, or a network gave."""

    def edit(name: str, row: Row) -> None:
        file = folder / "agent-0" / name
        rows = documents(file)
        file.write_text("".join(json.dumps({**each, **row}) + "\n" for each in rows))

    message = {"ended": f"Last words{HOSTILE}"}
    edit("series.jsonl", {"errors": {f"ended{HOSTILE}": 2, "ended": 1}, "said": message})
    run = folder / "run.json"
    (content,) = documents(run)
    content["plan"]["limits"].append(f"response{{{HOSTILE.strip()}}}.p50 < 50ms")
    run.write_text(json.dumps(content))
    edit("users.jsonl", {"waits": f"answer{HOSTILE}", "waited": 9.0, "lost": f"reset{HOSTILE}"})
    return folder


@pytest.fixture(scope="module")
def summary(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    """A run whose every text that does not decide what is measured is hostile."""
    folder = with_words_of_the_host(made_up.sampled(tmp_path_factory.mktemp("hostile") / f"run{HOSTILE}"))
    answers = summarise(folder).last.response.count
    poisoned = 0
    for place in places(folder):
        before = poison(folder, place)
        try:
            is_same = summarise(folder).last.response.count == answers
        except (CuestaError, ValueError):  # of a limit, a setting
            is_same = False
        poisoned += is_same
        if not is_same:
            (folder / place[0]).write_text(before)
    assert poisoned >= 30
    return summarise(folder)


def is_plain(written: str) -> bool:
    assert len(written) > 500
    return plain_rows(written) == written


def test_the_text_for_a_terminal(summary: Summary) -> None:
    assert is_plain(text(summary, colour=False, verbose=True))


def test_the_page(summary: Summary) -> None:
    file = summary.recorded.folder / "report.html"
    several.write_page({f"run{HOSTILE}": summary}, file)
    assert is_plain(file.read_text().split("<!--")[0])


def test_markdown_for_one_run_and_for_several(summary: Summary) -> None:
    assert is_plain(several.markdown({"run": summary}).replace("\u200b", ""))
    names = {f"run {number}{HOSTILE}": summary for number in (1, 2)}
    assert is_plain(several.markdown(names).replace("\u200b", ""))


def test_junit(summary: Summary, tmp_path: Path) -> None:
    write_junit({f"run{HOSTILE}": summary}, tmp_path / "junit.xml")
    assert is_plain((tmp_path / "junit.xml").read_text())


def test_json(summary: Summary, tmp_path: Path) -> None:
    write_json(str(tmp_path / "summary.json"), summary.json())
    written = (tmp_path / "summary.json").read_text()
    assert is_plain(written)
    assert HOSTILE in json.loads(written)["invalid_because"][0]


@pytest.mark.parametrize(
    "words",
    [
        ["run", f"no{HOSTILE}.tape"],
        ["run", f"--{HOSTILE}"],
        ["run", "--target", f"telnet://{HOSTILE}:1", "--users", "1"],
        ["check", f"{HOSTILE}.toml"],
        ["report", f"folder{HOSTILE}"],
        ["compare", f"one{HOSTILE}", f"other{HOSTILE}"],
        [f"verb{HOSTILE}"],
        ["run", "--limit", f"response{{a{HOSTILE}}}.p50 < 1x"],
    ],
)
def test_messages_repeat_no_control_characters(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with suppress(SystemExit):  # of argparse
        assert main(words)
    message = capsys.readouterr()
    assert message.err
    assert plain_rows(message.err) == message.err
    assert plain_rows(message.out) == message.out


def test_styles_pass_and_foreign_escapes_do_not(capsys: pytest.CaptureFixture[str]) -> None:
    show(Styled("\x1b[1mbold\x1b[0m"))
    show(f"row\n\t{HOSTILE}")
    first, second, third, _ = capsys.readouterr().out.split("\n")
    assert first == "\x1b[1mbold\x1b[0m"
    assert second == "row"
    assert third == "\t" + plain(HOSTILE)


@given(st.text())
def test_plain_text_is_as_long_and_json_is_the_same(text: str) -> None:
    assert len(plain(text)) == len(text)
    assert plain(text).isprintable()
    written = json_text({text: [text]}, indent=1)
    assert plain(written, "\n") == written
    assert json.loads(written) == {text: [text]}


def test_one_file_prints() -> None:
    """Ruff forbids `print`; nothing else writes to a terminal either, but what lays out rows whose texts are plain."""
    package = Path(cuesta.__file__).parent
    others = re.compile(r"\b(?:sys\.)?(?:stdout|stderr)\.(?:buffer\.)?write\(|\brich\.console import")
    files = {path.relative_to(package).as_posix() for path in package.rglob("*.py") if others.search(path.read_text())}
    assert files == {
        *("live/redrawn_row.py", "live/terminal_view.py", "report/render/text.py", "report/sql_result.py"),
    }
