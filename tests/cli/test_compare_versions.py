"""`cuesta compare TARGET TARGET`: made-up comparisons derived again, refusals, and programs that cannot be typed at."""

import json
import shlex
import shutil
from pathlib import Path

import pytest

from cuesta.cli.compare_versions import find_program
from cuesta.errors import Exit
from cuesta.workflow import rehearsal
from tests.conftest import Cuesta, Write
from tests.repositories import commit, git
from tests.run_folder import CLOCK, NANO, RunFolder, edit_run, write_rows

DOCS = Path(__file__).parents[2] / "docs"
ACCOMPANIED = {
    "step": 0,
    "begin": {"at": CLOCK, "cpu": 0.0},
    "end": {"at": CLOCK + 99 * NANO, "cpu": 9.0},
    "runs": [{"begin": CLOCK, "end": CLOCK + 99 * NANO, "ended": None}],
}
"""The record of a neighbour that ran beside all of a run."""
RECORD = {
    "names": ["app-1.4", "app-1.5"],
    "targets": ["pty:./app-1.4 notes.txt", "pty:./app-1.5 notes.txt"],
    "tape": "typing",
    "is_default_tape": True,
    "figures": ["echo.p50"],
    "guards": ["echo.p95"],
    "margin_share": 0.05,
    "budget": 180.0,
    "planned": [6, 8],
    "measure": 30.0,
    "seconds_per_pair": 14.0,
    "ended": "decided",
}


def compared(folder: Path, slower: float, pairs: int = 6, **record: object) -> Path:
    """Pairs of runs with echoes of about 30 ms, `slower` times as long in the new version."""
    folder.mkdir()
    rows = []
    for pair in range(pairs):
        for number, (side, factor) in enumerate((("base", 1.0), ("new", slower))):
            echoes = [factor * (0.03 + key / 10_000 + pair / 100_000) for key in range(40)]
            made = RunFolder(
                folder / f"pair-{pair}" / side, users=(1,), histograms=[("interactive/keys/echo", echoes)]
            ).write()
            with edit_run(made) as run:
                run["plan"]["meters"] = "none"
                run["started"] = f"2026-11-21T01:{number:02}:{pair:02}Z"
        rows.append({"pair": pair, "base": f"pair-{pair}/base", "new": f"pair-{pair}/new", "first": "base"})
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "versions.json").write_text(json.dumps(RECORD | record))
    return folder


@pytest.mark.parametrize(
    ("slower", "code", "sentence"),
    [
        (1.0, Exit.GOOD, "app-1.5 echoes a key as quickly as app-1.4"),
        (0.5, Exit.GOOD, "app-1.5 echoes a key 16.0 ms sooner than app-1.4 [15.96–15.98 ms]: faster"),
        (1.8, Exit.CHANGED, "app-1.5 echoes a key 25.5 ms later than app-1.4 [25.53–25.58 ms]: slower"),
    ],
)
def test_a_folder_gives_its_verdict_again(here: Path, cuesta: Cuesta, slower: float, code: Exit, sentence: str) -> None:
    folder = compared(here / "out", slower)
    document = cuesta("compare", folder, "--json", "-").ends(code).json
    assert document["sentence"].startswith(sentence)
    assert document["pairs"] == 6
    described = (DOCS / "compare.md").read_text()
    assert [name for name in [*document, *document["figures"][0]] if f"`{name}`" not in described] == []
    assert (folder / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_the_first_failure_of_a_version_that_fails_more_is_quoted(here: Path, cuesta: Cuesta) -> None:
    folder = compared(here / "out", 1.0, pairs=8, planned=[8])
    for made in folder.glob("pair-*/new"):
        rows = [json.loads(row) for row in (made / "agent-0" / "series.jsonl").read_text().splitlines()]
        failed = {"errors": {"exited": 2}, "said": {"exited": "app-1.5 exited with status 3"}}
        write_rows(
            made / "agent-0" / "series.jsonl", [row | (failed if row["phase"] == "measure" else {}) for row in rows]
        )
    sentence = cuesta("compare", folder, "--json", "-").ends(Exit.CHANGED).json["sentence"]
    assert sentence.endswith(": worse. The first failure: app-1.5 exited with status 3")
    (folder / "versions.json").write_text(json.dumps(RECORD | {"ended": None}))
    (folder / "pairs.jsonl").write_text("".join((folder / "pairs.jsonl").read_text().splitlines(keepends=True)[:6]))
    cut_off = cuesta("compare", folder, "--json", "-").ends(Exit.INCONCLUSIVE).json["sentence"]
    assert cut_off.startswith("cannot tell: app-1.5 has error rate"), "six pairs are too few for a second guard"


def test_runs_that_all_do_not_count_are_not_valid(here: Path, cuesta: Cuesta) -> None:
    spoilt = ["pair 1, app-1.4: INVALID: the driver was late", "pair 2, app-1.5: INVALID: the driver was late"]
    folder = compared(here / "out", 1.0, pairs=0, spoilt=spoilt, ended="budget")
    (folder / "pairs.jsonl").unlink()
    sentence = cuesta("compare", folder, "--json", "-").ends(Exit.INVALID).json["sentence"]
    assert sentence == f"not valid: no pair counts; {spoilt[0]}"


def test_revisions_are_of_what_is_started(here: Path, cuesta: Cuesta) -> None:
    git(here, "init", "-q")
    for text in ("one", "two"):
        commit(here, "app", text)
    absolute = cuesta("compare", f"pty:{here}/app", "--revisions", "HEAD~1..HEAD")
    absolute.ends(Exit.USAGE, "names a file of this checkout")
    both = [find_program(target) for target in ("pty:sh", "pty:./app", "pty:python3 app.py", "pty:")]
    assert both == [shutil.which("sh"), None, None, None]


def test_text_fits_a_terminal_and_markdown_a_summary(here: Path, cuesta: Cuesta) -> None:
    compared(here / "out", 1.8, names=["main", "a|<b>"])
    said = cuesta("compare", "out", "--markdown", "summary.md").ends(Exit.CHANGED).out
    assert max(map(len, said.splitlines())) <= 80
    assert "│ main" in said
    summary = (here / "summary.md").read_text()
    assert summary.startswith("### ❌ Comparison: WORSE\n\n**a&#124;&#60;b&#62; echoes a key 25.5 ms later than main")
    assert "    main" in summary, "both distributions, as preformatted text"
    cuesta("compare", "out", "--markdown", "summary.md")
    assert (here / "summary.md").read_text() == 2 * summary, "it is appended, as to $GITHUB_STEP_SUMMARY"


def test_a_page_shows_both_distributions_and_each_pair(here: Path, cuesta: Cuesta) -> None:
    folder = compared(here / "out", 1.8)
    cuesta("compare", folder)
    page = (folder / "report.html").read_text()
    assert page.count("<figure") == 2
    assert "All keys: how many took at most a time" in page


@pytest.mark.parametrize(
    ("slower", "code", "sentence"),
    [
        (1.0, Exit.GOOD, "beside `make -j8` a key echoes as quickly as alone"),
        (1.8, Exit.CHANGED, "beside `make -j8` a key echoes 25.5 ms later than alone [25.53–25.58 ms]: slower"),
    ],
)
def test_what_a_neighbour_costs_is_a_sentence_of_its_own(
    here: Path, cuesta: Cuesta, slower: float, code: Exit, sentence: str
) -> None:
    """Sides that differ in their neighbours are refused, unless these are what is compared."""
    names = ["alone", "beside `make -j8`"]
    folder = compared(here / "out", slower, names=names)
    for number in range(6):
        with edit_run(folder / f"pair-{number}" / "new") as run:
            run["plan"]["beside"] = "make -j8"
        write_rows(folder / f"pair-{number}" / "new" / "beside.jsonl", [ACCOMPANIED])
    refused = cuesta("compare", folder).ends(Exit.REFUSED).out
    assert "neighbours: beside (none) against make -j8" in " ".join(refused.split())
    (folder / "versions.json").write_text(json.dumps({**RECORD, "names": names, "compared": "neighbours"}))
    document = cuesta("compare", folder, "--json", "-").ends(code).json
    assert document["sentence"].startswith(sentence)
    assert (document["design"], document["unlike"]) == ("neighbours", [])


def test_a_neighbour_that_ends_at_once_ends_the_comparison(here: Path, cuesta: Cuesta, write: Write) -> None:
    write("type.tape", 'Set KeyRate 20cps\nSet Echo timed\nForever\n  Type "abcdefgh"\nEnd\n')
    arguments = ("pty:cat", "--tape", "type.tape", "--beside", "echo no rule >&2; exit 2", "--quiet", "--out", "out")
    said = cuesta("compare", *arguments).ends(Exit.INVALID).row
    assert "not valid: beside `echo no rule >&2; exit 2`: beside it" in said
    assert "ended with code 2, and said: no rule; give a command that goes on" in said


def test_too_few_pairs_cannot_tell(here: Path, cuesta: Cuesta) -> None:
    folder = compared(here / "out", 1.5, pairs=4, ended="budget")
    said = cuesta("compare", folder).ends(Exit.INCONCLUSIVE).out
    assert "cannot tell: app-1.5 echoes a key 16.0 ms later than app-1.4 in 4 pairs" in " ".join(said.split())
    summary = cuesta("compare", folder, "--markdown", "-").ends(Exit.INCONCLUSIVE).out
    assert "### ⚠️ Comparison: CANNOT TELL\n" in summary
    _, _, design = summary.partition("**Design**\n\n")
    assert "- tape: " in design.partition("\n\n")[0], "one list"


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ("pty:a", Exit.USAGE, "expected two targets, got pty:a"),
        ("pty:a folder", Exit.USAGE, "expected two targets"),
        ("pty:a pty:b pty:c --beside yes", Exit.USAGE, "expected one target or two, got pty:a pty:b pty:c"),
        ("pty:a --sessions-tape x.tape", Exit.USAGE, "--sessions-tape needs --sessions"),
        ("folder --beside yes", Exit.USAGE, "--beside: for targets that are compared"),
        ("pty:bash --sessions 1", Exit.USAGE, "--sessions: expected a number of at least 2"),
        ("pty:vim --sessions 3", Exit.USAGE, "what do its other sessions stream?"),
        ("pty:a pty:b --pairs 8", Exit.USAGE, "--pairs: not with targets"),
        ("pty:a pty:b --margin 5", Exit.USAGE, "--margin 5%,2ms"),
        ("pty:a pty:b --margin 2ms,3ms", Exit.USAGE, "expected a percentage or a duration"),
        ("pty:a pty:b --budget soon", Exit.USAGE, "--budget 3m"),
        ("pty:a pty:b --budget 0s", Exit.USAGE, "more than nothing"),
        ("pty:a pty:b --figure echo.p51", Exit.USAGE, "did you mean `echo.p"),
        ("pty:a pty:b --figure throughput --margin 2ms", Exit.USAGE, "throughput is no duration"),
        ("pty:a pty:b --tape none.tape", Exit.BAD_INPUT, "none.tape"),
        ("pty:a pty:b --tape still.tape", Exit.USAGE, "response.p50: nothing of it is timed in still"),
        ("pty:a pty:b --tape echo.tape --figure response.p50", Exit.USAGE, "nothing of it is timed in echo"),
        ("pty:cat tcp://localhost:1", Exit.REFUSED, "lines: line pty: against tcp:"),
        ("one two --tape typing", Exit.USAGE, "--tape: for targets"),
        ("one two --sessions-tape x.tape", Exit.USAGE, "--sessions-tape: for targets"),
        ("one two --markdown x", Exit.USAGE, "--markdown: for two versions"),
        ("--revisions main..HEAD", Exit.USAGE, "expected one program for --revisions, got none"),
        ("pty:a pty:b --revisions main..HEAD", Exit.USAGE, "expected one program"),
        ("ssh://me:pw@h --revisions main..HEAD", Exit.USAGE, "me:***@h is no program that is started here"),
        ("pty:a --build make", Exit.USAGE, "--build needs --revisions"),
        ("/bin/sh /bin/cat", Exit.USAGE, "/bin/sh is a program"),
        ("pty:a pty:b --markdown none/x", Exit.USAGE, "cannot write there"),
    ],
)
def test_impossible_requests_are_refused_before_anything_runs(
    here: Path, cuesta: Cuesta, write: Write, arguments: str, code: Exit, text: str
) -> None:
    write("still.tape", "Wait+Screen /./\nForever\nEnter\nSleep 1s\nEnd\n")
    write("echo.tape", 'Set Echo screen\nType "x"\nSleep 1s\n')
    cuesta("compare", *shlex.split(arguments)).ends(code, text)
    assert not (here / "runs").exists()


def test_a_program_that_does_not_echo_is_named_at_once(
    here: Path, write: Write, cuesta: Cuesta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rehearsal, "SILENT", 2.0)
    monkeypatch.setattr(rehearsal, "ENOUGH", 5)
    write("quick.tape", 'Set KeyRate 20cps\nSet Echo screen\nWait+Screen /ready/\nForever\nType "abcdefghij"\nEnd\n')
    targets = ("pty:echo ready; exec cat", "pty:stty -echo; echo ready; exec cat > /dev/null")
    ended = cuesta("compare", *targets, "--tape", "quick.tape", "--out", "out", "--json", "-").ends(Exit.INVALID)
    assert ended.json["verdict"] == "not valid"
    (why,) = ended.json["why"]
    assert why.startswith("stty -echo; echo ready; exec cat > /dev")
    assert "nothing echoed" in why
    assert "nothing echoed" in " ".join(cuesta("compare", "out").ends(Exit.INVALID).out.split())
