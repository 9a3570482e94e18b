"""The page of a run that goes on, in a real browser: two users at Emacs, and one at a program with hostile output."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.browser import Tab, tab
from tests.watched_page import WatchedRun, watched_run

HOSTILE = "<img src=/x onerror=document.title=1>"
PLAN = """
name = "watched"
settle = "1s"
measure = "300s"
[[group]]
name = "writers"
tape = "emacs"
target = "pty:emacs -nw -Q"
users = 2
[[group]]
name = "hostile"
tape = "hostile.tape"
target = "pty:bash --norc"
users = 1
"""
TAPE = f"""
Wait+Ready@30s
Type `echo '{HOSTILE}'`
Enter
Forever
  Transaction "{HOSTILE}"
    Type "a"
    Wait+Screen /a/
  End
  Type@9s "b"
End
"""


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WatchedRun]:
    with planned_run(tmp_path_factory.mktemp("watched")) as run:
        yield run


def planned_run(place: Path) -> AbstractContextManager[WatchedRun]:
    """A run of the plan."""
    (place / "plan.toml").write_text(PLAN)
    (place / "hostile.tape").write_text(TAPE)
    return watched_run(place, "plan.toml")


def choose(page: Tab, user: int) -> str:
    """Have a user's screen shown; the expression of its element."""
    page.value(f"document.getElementById('number').value = '{user}'")
    page.value("document.querySelector('#any-user button').click()")
    return f"document.querySelector('#screens [data-user=\"{user}\"]')"


def mark(page: Tab, note: str) -> None:
    page.value("document.getElementById('ask-mark').click()")
    page.value(f"document.getElementById('note').value = {json.dumps(note)}")
    page.value("document.querySelector('#mark-form button[value=mark]').click()")
    page.wait_for(f"document.getElementById('told').innerText.includes({json.dumps(note)})")


def test_charts_move(watched: WatchedRun) -> None:
    """Their lines have more points each second, and the table behind one has the newest second on top."""
    page = watched.page
    page.wait_for("document.documentElement.dataset.now && document.querySelector('#charts svg .mark-line path')")
    first = page.value("document.documentElement.dataset.now")
    page.wait_for(f"Number(document.documentElement.dataset.now) > Number({first}) + 2")
    drawn = "document.querySelector('#charts svg .mark-line path').getAttribute('d')"
    before = page.value(drawn)
    page.wait_for(f"{drawn} !== {json.dumps(before)}")
    page.value("document.querySelector('#charts details').open = true")
    newest = "document.querySelector('#charts tbody th').textContent"
    page.wait_for(f"document.querySelector('#charts tbody th') && Number({newest}) > Number({first})")


def test_a_screen_shows_what_emacs_drew_and_follows_keys(watched: WatchedRun) -> None:
    page = watched.page
    page.wait_for("document.querySelector('#glimpses button')")
    text = f"({choose(page, 0)}.querySelector('.screen')?.innerText || '')"
    page.wait_for(f"{text}.includes('typing')", "the mode line has the buffer's name")
    before = page.value(text)
    page.wait_for(f"{text} !== {json.dumps(before)}", "keys change it")
    assert page.value("document.querySelectorAll('#screens [data-user=\"0\"] .cursor').length") == 1
    inverse = "[...document.querySelectorAll('#screens .screen span')].some((span) => /bg-/.test(span.className))"
    page.wait_for(inverse, "the mode line has a ground of its own")


def test_what_hosts_and_tapes_say_is_text(watched: WatchedRun) -> None:
    """A script in a banner, and in a transaction's name does nothing."""
    page = watched.page
    page.wait_for(f"{choose(page, 2)}?.innerText.includes({json.dumps(HOSTILE)})")
    assert page.value("document.images.length") == 0
    assert "watched" in page.value("document.title")


def test_a_second_page_and_one_that_is_loaded_again_show_the_run_too(watched: WatchedRun) -> None:
    with tab(watched.browser) as second:
        second.open(watched.base)
        second.wait_for("document.querySelectorAll('#figures .figure').length === 5")
    screen = choose(watched.page, 2)
    watched.page.call("Page.reload")
    watched.page.wait_for_load()
    watched.page.wait_for(f"{screen}?.querySelector('.rows')", "it still shows this user")


@pytest.mark.parametrize(
    ("path", "data", "headers"),
    [
        ("events", None, {}),
        ("stop", b"{}", {"Origin": "http://evil.example"}),
        ("enter", b"wrong", {}),
        ("static/..%2f..%2f__init__.py", None, {}),
        ("../../etc/passwd", None, {}),
        ("", None, {"Host": "evil.example"}),
    ],
)
def test_others_are_refused(watched: WatchedRun, path: str, data: bytes | None, headers: dict[str, str]) -> None:
    request = urllib.request.Request(watched.base + path, data, headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code in {401, 403, 404, 421}
    refused.value.close()


def test_the_page_marks_and_stops_the_run_and_shows_its_report(tmp_path: Path) -> None:
    with planned_run(tmp_path) as watched:
        check_end(watched)


def check_end(watched: WatchedRun) -> None:
    """Mark an instant of a run, stop it, and look at its report."""
    page = watched.page
    mark(page, "deployed <b>v2</b>")
    assert "deployed <b>v2</b>" in (watched.folder / "marks.jsonl").read_text()
    page.value("document.getElementById('ask-stop').click()")
    page.value("document.querySelector('#stop-dialog button[value=stop]').click()")
    page.wait_for_load()
    assert page.value("location.pathname") == "/report"
    assert page.value("document.querySelector('.verdict')?.innerText"), page.value("document.body.innerText")
    page.wait_for("document.documentElement.dataset.plots === 'drawn'", "its plots")
    assert page.value("document.querySelectorAll('a[href]:not([href^=\"#\"])').length") == 0, "they would lead nowhere"
    _, errors = watched.process.communicate(timeout=60)
    assert watched.process.returncode == Exit.INTERRUPTED, errors
    assert "deployed" in (watched.folder / "report.html").read_text()
    assert page.said == []
    assert [each for each in page.requests if not each.startswith((watched.base, "data:"))] == []
