"""The pages of finished folders, as a server answers them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.run_folder import RunFolder, change_run
from tests.site.folders import HOSTILE, make_folders, write_summary
from tests.site.served import Served, served_folders


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    top = make_folders(tmp_path_factory.mktemp("folders"))
    with served_folders(tmp_path_factory.mktemp("ledger"), top) as server:
        yield server


def id_of(site: Served, name: str, kind: str = "run") -> str:
    found = re.search(rf'href="/{kind}/({name}-[0-9a-f]{{8}})"', site.ask("/").text)
    assert found, name
    return found[1]


def shown(site: Served, path: str) -> str:
    answer = site.ask(path)
    assert answer.status == 200, answer.text
    assert "unsafe" not in answer.headers["content-security-policy"]
    ElementTree.fromstring(answer.text.removeprefix("<!DOCTYPE html>\n"))  # well-formed
    assert not re.search(r"\sstyle=|<style|\son\w+=|<script(?! src=| type=\"application/json\")", answer.text)
    assert not re.search(r'(?:src|href)="(?!/|\?|#|data:image/svg)', answer.text)
    return answer.text


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_list_has_what_is_there_and_what_it_measured(site: Served) -> None:
    text = shown(site, "/")
    assert re.search(r"\bgood made-up [-\d]+ [:\d]+ host: 4 VALID 1 of 3 crossed 2\.14 ms 200 ms 2\.00/s", words(text))
    assert text.count('type="checkbox"') == 8
    assert "run-1" not in text, "runs of a certification stand on its page"


def test_a_run_is_shown_as_its_report_has_it(site: Served) -> None:
    text = shown(site, f"/run/{id_of(site, 'good')}")
    assert "<h1>made-up: good</h1>" in text
    assert text.count('<figure class="plot">') > 5
    assert '<script src="/static/vega.js?v=' in text
    file = re.search(r'href="(/files/[^"]*/agent-0/histograms.hlog)"', text)
    assert file
    stored = site.ask(file[1])
    assert stored.headers["content-type"] == "application/octet-stream"
    assert stored.headers["content-disposition"] == 'attachment; filename="histograms.hlog"'
    assert stored.body.startswith(b"Tag=") or b"Tag=" in stored.body


def test_a_copy_is_one_file_that_needs_nothing_else(site: Served) -> None:
    answer = site.ask(f"/run/{id_of(site, 'good')}?copy")
    assert answer.headers["content-disposition"] == 'attachment; filename="good.html"'
    assert not re.search(r"\bsrc=|<link|href=", answer.text.partition("<script>")[0])
    assert 'id="vega"' in answer.text
    several = site.ask(f"/side-by-side?id={id_of(site, 'good')}&id={id_of(site, 'same')}&copy")
    assert several.headers["content-disposition"] == 'attachment; filename="good-same.html"'
    assert "2 runs side by side" in several.text


@pytest.mark.parametrize("names", [("good", "sampled"), ("same", "same-again", "sweep")])
def test_runs_are_shown_side_by_side(site: Served, names: tuple[str, ...]) -> None:
    text = shown(site, "/side-by-side?" + "&".join(f"id={id_of(site, name)}" for name in names))
    assert f"<h1>{len(names)} runs side by side</h1>" in text
    assert all(f'<th scope="col">{name}</th>' in text for name in names)


def test_two_runs_are_compared_the_older_one_first(site: Served) -> None:
    one, other = id_of(site, "same"), id_of(site, "same-again")
    text = shown(site, f"/compare?id={one}&id={other}")
    assert re.search(r"same against same-again: .*few runs|same against same-again: cannot tell", words(text))
    swapped = re.search(r'href="(\?[^"]*swapped[^"]*)"', text)
    assert swapped
    assert "same-again against same: " in words(shown(site, "/compare" + swapped[1].replace("&amp;", "&")))


def test_a_comparison_that_is_refused_says_why(site: Served) -> None:
    text = words(shown(site, f"/compare?id={id_of(site, 'good')}&id={id_of(site, 'sweep')}"))
    assert "REFUSED these are not compared" in text


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/compare", "a comparison is of two runs – choose two in the list"),
        ("/compare?id={good}", "a comparison is of two runs – choose two in the list"),
        ("/side-by-side", "no runs are chosen"),
        ("/side-by-side?id=no-such", "no runs are chosen"),
        ("/certifications?id={good}", "no certifications are chosen"),
    ],
)
def test_what_cannot_be_shown_says_why(site: Served, path: str, why: str) -> None:
    answer = site.ask(path.format(good=id_of(site, "good")))
    assert (answer.status, why in words(answer.text)) == (422, True)


def test_a_certification_is_shown_as_its_form_with_its_runs(site: Served) -> None:
    text = words(shown(site, f"/certification/{id_of(site, 'certification', 'certification')}"))
    assert "IV Measurements" in text
    assert "Its runs" in text
    assert "traced/run-1" in text
    assert "ESTIMATE" in text


def test_the_systems_are_listed(site: Served) -> None:
    assert "certification of certification-short-fsim, group users" in words(shown(site, "/systems"))


@pytest.mark.parametrize("question", ["steps", "slow", "invalid", "targets", "errors"])
def test_the_ledger_answers_each_question(site: Served, question: str) -> None:
    text = shown(site, f"/ledger?question={question}")
    assert '<h2 id="answer">' in text
    if question in {"steps", "slow", "targets"}:
        assert re.search(r'<table class="answer".*<td', text, re.DOTALL)
    if question == "steps":
        assert f'<a href="/run/{id_of(site, "good")}">good</a>' in text
        assert ">certification/run-1</a>" in text


def test_the_ledger_is_asked_nothing_else(site: Served) -> None:
    assert 'id="answer"' not in shown(site, "/ledger?question=select%201")


@pytest.mark.parametrize(
    "path",
    [
        "/run/none",
        "/run/..%2f..%2fetc",
        "/run/{good}/watch/user-9",
        "/run/{good}/watch/..%2f..%2frun",
        "/certification/none",
        "/files/{good}/../../../etc/passwd",
        "/files/{good}/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "/files/{good}//etc/passwd",
        "/files/{good}/agent-0",
        "/files/{good}/agent-0/%00",
        "/files/none/run.json",
    ],
)
def test_what_is_not_in_the_list_is_not_there(site: Served, path: str) -> None:
    answer = site.ask(path.format(good=id_of(site, "good")))
    assert answer.status == 404
    assert "root:" not in answer.text


def test_names_are_text(site: Served) -> None:
    hostile = id_of(site, "hostile-script")
    for path in ("/", f"/run/{hostile}", f"/run/{hostile}/watch/user-0", "/ledger?question=slow"):
        assert HOSTILE.encode() not in site.ask(path).body
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in site.ask(f"/run/{hostile}").text


def test_a_session_is_had_as_screens_a_minute_at_a_time(site: Served) -> None:
    run = id_of(site, "good")
    assert f"/run/{run}/watch/user-0" in shown(site, f"/run/{run}")
    text = shown(site, f"/run/{run}/watch/user-0")
    assert f'data-source="/run/{run}/watch/user-0/screens" data-offset="0.0" data-chunk="60.0"' in text
    first = json.loads(site.ask(f"/run/{run}/watch/user-0/screens?chunk=0").body)
    assert [frame["at"] for frame in first["frames"]] == [0.0, 0.2, 1.0, 5.0, 30.0]
    assert first["frames"][1]["rows"]["0"][0] == {"text": "red", "foreground": "1", "attributes": ["bold"]}
    assert first["frames"][2]["rows"] == {"1": [{"text": HOSTILE}]}
    assert (first["seconds"], first["markers"]) == (70.0, [[0.5, "session 1"]])
    second = json.loads(site.ask(f"/run/{run}/watch/user-0/screens?chunk=1").body)
    assert [frame["at"] for frame in second["frames"]] == [60.0, 70.0]
    assert second["frames"][0]["rows"]["0"] == [{"text": "the end"}]
    for chunk in ("x", "-1", "99999999", ""):
        assert site.ask(f"/run/{run}/watch/user-0/screens?chunk={chunk}").status == 400


def test_the_page_of_a_run_that_goes_on_is_live_until_it_has_ended(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "going").write()
    ends = {end: end.read_text() for end in folder.glob("agent-*/agent.json")}
    for end in ends:
        end.unlink()
    with served_folders(tmp_path / "ledger", tmp_path / "runs") as site:
        assert "goes on" in words(shown(site, "/"))
        page = f"/run/{id_of(site, 'going')}"
        assert site.ask(page).headers["location"] == f"{page}/live/"
        assert "/static/live.js" in shown(site, f"{page}/live/")
        assert site.ask(f"{page}/live/report").status == 404
        for end, text in ends.items():
            end.write_text(text)
        assert "event: end\n" in site.ask(f"{page}/live/events").text
        assert site.ask(f"{page}/live/report").headers["location"] == page
        write_summary(folder)
        assert "VALID" in shown(site, page)


def test_a_report_is_built_again_only_if_the_folder_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from cuesta.analysis import summary  # noqa: PLC0415

    folder, calls = write_summary(RunFolder(tmp_path / "runs" / "one").write()), list[Path]()
    original = summary.summarise

    def count(path: Path) -> summary.Summary:
        calls.append(path)
        return original(path)

    monkeypatch.setattr(summary, "summarise", count)
    with served_folders(tmp_path / "ledger", tmp_path / "runs") as site:
        page = f"/run/{id_of(site, 'one')}"
        assert shown(site, page) == shown(site, page)
        assert len(calls) == 1
        change_run(folder, name="another")
        assert "<h1>another: one</h1>" in shown(site, page)
        assert len(calls) == 2


def test_a_folder_with_a_link_out_of_it_is_not_shown(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "runs" / "one").write()
    (folder / "agent-0" / "out").symlink_to("/etc/passwd")
    with served_folders(tmp_path / "ledger", tmp_path / "runs") as site:
        run = id_of(site, "one")
        for path in (f"/run/{run}", f"/files/{run}/agent-0/out", f"/files/{run}/run.json"):
            answer = site.ask(path)
            assert (answer.status, "root:" in answer.text) == (422, False)


def test_an_empty_folder_says_what_to_do(tmp_path: Path) -> None:
    with served_folders(tmp_path / "ledger", tmp_path) as site:
        assert "Nothing is here yet" in shown(site, "/")
        assert site.ask("/systems").status == 422
        assert "no row answers this" in shown(site, "/ledger?question=steps")
