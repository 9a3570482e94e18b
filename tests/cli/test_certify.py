"""`cuesta certify` as a whole: real shells on pipes, real meters, real keys; and a changed byte anywhere is found."""

import json
import math
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cuesta.cli import main
from cuesta.engine import certifier
from cuesta.errors import Exit, InputError
from cuesta.json_text import json_file_text
from cuesta.workflow.verify import verify
from tests.busy import BUSY
from tests.conftest import Cuesta, Write
from tests.daemons import keygen

TAPE = """
Set KeyRate 0
Set Prompt /[$] $/
Set WaitTimeout 60s
Wait+Prompt
Transaction "process creation"
  Enter
  Wait+Prompt
End
Barrier "created"
Sleep 800ms
Transaction "date"
  Type "date; ls /"
  Enter
  Wait+Prompt
End
Sleep 60m
"""
PLAN = (
    """
name = "tiny"
tape = "tiny.tape"
target = "pipe:env PS1='$ ' sh -i"
users = 2
stagger = "0ms"
settle = "0s"
measure = "2500ms"
"""
    + BUSY
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certification of one run."""
    here = tmp_path_factory.mktemp("certify")
    (here / "tiny.tape").write_text(TAPE)
    (here / "tiny.toml").write_text(PLAN)
    comment = ["--comment", "before the change", "--comment", "with care"]
    code = main(["certify", str(here / "tiny.toml"), "--runs", "1", "--out", str(here / "out"), "--quiet", *comment])
    assert code == Exit.GOOD
    return here / "out"


@pytest.fixture
def copy(made: Path, here: Path) -> Path:
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(made, here / "certified"))


def record(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "record.json").read_text())
    return document


def test_the_form_says_what_was_certified(made: Path, cuesta: Cuesta) -> None:
    text = cuesta("certify", made).ends().out
    assert max(len(row) for row in text.splitlines() if "/" not in row) <= 80
    assert "OBSERVATION: 1 run counted" in text
    assert "before the change" in text
    assert "number of processes used: 2" in text
    page = (made / "record.html").read_text()
    assert "IV Measurements" in page
    assert "http" not in page.replace("http-equiv", "")


def test_the_measurements_are_in_the_record(made: Path) -> None:
    document = record(made)
    assert (document["format"], document["grade"]) == (1, "observation")
    assert "1 run counted; a certificate needs 5" in document["because"]
    assert document["workload"]["attached"] == "FSIM"
    (run,) = document["runs"]
    assert 0 < run["creation"]["value"] < 60
    assert 0 < run["completion"]["value"] < 60
    assert run["transactions"] == 4
    assert run["command_cpu"]["value"] > 0, run["command_cpu"]
    assert {path.partition("/")[0] for path in document["raw"]} == {
        *("certification.json", "run-1", "settling", "traced", "linkage", "control")
    }
    total = document["measurements"]["a"][-1]
    assert total["name"] == "Total CPU time charged"
    known = [row["command"]["value"] or 0.0 for row in document["measurements"]["a"][:-1]]
    assert sum(known) == pytest.approx(total["command"]["value"], rel=1e-6)


def test_part_c_is_filled_by_the_runs_that_the_method_makes(made: Path) -> None:
    """Nothing was asked for: needs root, and the tracer built in."""
    document = record(made)
    assert document["method"]["apart"] == {what: [f"{what}/run-1"] for what in ("traced", "linkage", "control")}
    assert document["method"]["untraced"] is None
    c = {row["key"]: row for row in document["measurements"]["c"]}
    numbers = {key: row for key, row in c.items() if key.endswith(".number")}
    assert len(numbers) == 5
    for key in ("page.number", "segment.number", "linkage.number", "wall_crossing.number"):
        assert min(numbers[key][phase]["value"] for phase in ("creation", "command")) > 0, numbers[key]
    assert numbers["interrupt.number"]["total"]["value"] >= 0
    # Two shells, and of the commands one program each.
    assert numbers["linkage.number"]["creation"]["value"] > 20
    assert 0 < document["method"]["unmetered"]["value"] < 60
    assert [check["said"] for check in document["checks"] if check["name"] == "form" and not check["ok"]] == []


def test_a_form_of_which_a_part_could_not_be_had_is_not_certified(copy: Path, cuesta: Cuesta) -> None:
    """Whatever else holds: here a run was there and is not any more."""
    (copy / "record.json").unlink()
    shutil.rmtree(copy / "linkage")
    cuesta("certify", copy).ends()
    document = record(copy)
    (form,) = [check for check in document["checks"] if check["name"] == "form"]
    lacks = "the form lacks c: linkage: average (creation), and 3 more"
    assert form["said"] == f"{lacks}: no meter data (the run that asks the linkers was not made)"
    assert not form["ok"]
    assert form["said"] in document["because"]


def test_a_dry_run_prints_the_runs_and_their_time(write: Write, here: Path, cuesta: Cuesta) -> None:
    write("tiny.tape", TAPE)
    dry = ("certify", write("tiny.toml", PLAN), "--dry-run", "--out", "out")
    text = cuesta(*dry).ends().out
    assert "5 runs timed, 1 run traced, to count system calls" in text
    assert "about 40 s" in text
    shown = cuesta(*dry, "--runs", "1", "--json", "-").ends().json
    assert (sum(shown["runs"].values()), shown["seconds"], shown["untraced"]) == (5, 22.5, None)
    assert not (here / "out").exists()


def test_it_is_verified_as_it_was_written(made: Path, cuesta: Cuesta) -> None:
    assert cuesta("certify", "--verify", made).ends().out.startswith(f"VERIFIED  {made}\n")
    cuesta("certify", "--verify", made / "run-1").ends()


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_flipped_byte_anywhere_is_detected(made: Path, data: st.DataObject) -> None:
    names = sorted([*record(made)["raw"], "record.json"])
    file = made / data.draw(st.sampled_from(names))
    before = file.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    bit = data.draw(st.sampled_from([1 << n for n in range(8)]))
    try:
        file.write_bytes(before[:at] + bytes([before[at] ^ bit]) + before[at + 1 :])
        try:
            wrong = "\n".join(verify(made, None).wrong)
        except InputError as error:  # a flip made the format a newer one
            wrong = str(error)
            assert "is of format" in wrong
        assert wrong
        assert file.name == "record.json" or file.relative_to(made).as_posix() in wrong
    finally:
        file.write_bytes(before)


def test_a_figure_changed_in_its_last_digit_is_detected(copy: Path) -> None:
    changed = record(copy)
    changed["driver"]["cpu"] = math.nextafter(changed["driver"]["cpu"], 1.0)
    (copy / "record.json").write_text(json_file_text(changed))
    told = "record.json: its text is not the one that cuesta wrote: its SHA-256 differs"
    assert verify(copy, None).wrong == [told]


def test_a_record_without_its_own_hash_is_still_verified(copy: Path) -> None:
    file = copy / "record.json"
    file.write_text(json_file_text({name: value for name, value in record(copy).items() if name != "sha256"}))
    assert verify(copy, None).wrong == []


def test_each_kind_of_change_is_named(copy: Path) -> None:
    (copy / "run-1" / "meters.jsonl").unlink()
    (copy / "run-1" / "extra.jsonl").write_text("{}\n")
    (copy / "run-9").mkdir()
    (copy / "run-9" / "series.jsonl").write_text("{}\n")
    document = record(copy)
    document["grade"] = "certified"
    document["measurements"]["d"][0]["figure"]["value"] = 0.001
    (copy / "record.json").write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    wrong = "\n".join(verify(copy, None).wrong)
    assert "run-1/meters.jsonl: is in the record and not in the folder" in wrong
    assert "run-1/extra.jsonl: is in the folder and not in the record" in wrong
    assert "run-9/series.jsonl: is in the folder and not in the record" in wrong
    assert 'grade: the record says "certified", the raw files give "observation"' in wrong
    assert "measurements.d[0].figure.value: the record says 0.001" in wrong


@pytest.mark.parametrize("lost", ["agent.json", "series.jsonl", "timeline.json"])
def test_a_run_that_was_cut_off_does_not_count(copy: Path, lost: str, cuesta: Cuesta) -> None:
    (copy / "record.json").unlink()
    (copy / "run-1" / "agent-0" / lost).unlink()
    text, document = cuesta("certify", copy).ends(Exit.INVALID).row, record(copy)
    assert (document["grade"], document["runs"], list(document["method"]["excluded"])) == ("estimate", [], ["run-1"])
    assert "ESTIMATE: 0 runs counted, 1 did not" in text
    assert "run-1 does not count: " in text
    if lost == "agent.json":
        assert "the certification was cut off: 0 of the 1 run that were asked for counted" in text
    assert "phases: CPU time: no run that counts was metered" in text
    assert "number of processes used: 2" in text, "the plan says what was to be run"
    assert "0 runs counted" in cuesta("certify", "--verify", copy).ends().out


def test_a_newer_record_is_refused_politely(copy: Path, cuesta: Cuesta) -> None:
    (copy / "record.json").write_text(json.dumps({**record(copy), "format": 2, "invented": "later"}))
    newer = "is of format 2, and this cuesta reads up to 1"
    cuesta("certify", "--verify", copy).ends(Exit.BAD_INPUT, newer, "newer one")


def test_it_is_signed_and_the_signature_checked(copy: Path, cuesta: Cuesta) -> None:
    key = keygen(copy.parent / "key")
    signers = copy.parent / "signers"
    signers.write_text(f"ann {key.with_suffix('.pub').read_text()}")
    cuesta("certify", copy, "--sign", key).ends()
    assert "signed by ann" in cuesta("certify", "--verify", copy, "--signers", signers).ends().out
    unnamed = cuesta("certify", "--verify", copy).ends().out
    assert "it is signed, by whom is not known: --signers FILE" in unnamed
    signature = copy / "record.json.sig"
    signature.write_text(signature.read_text().replace("A", "B", 3))
    cuesta("certify", "--verify", copy, "--signers", signers).ends(Exit.FAILED)


def test_a_run_without_its_first_file_is_reported(copy: Path) -> None:
    (copy / "run-1" / "run.json").unlink()
    wrong = verify(copy, None).wrong
    assert "run-1/run.json: is in the record and not in the folder" in wrong
    assert "run-1/meters.jsonl: is of no run any more" in wrong
    assert not [row for row in wrong if "SHA-256" in row]


@pytest.mark.parametrize("name", ["certification.json", "record.json", "run-1/run.json"])
def test_a_file_that_is_no_json_is_named_as_wrong(copy: Path, name: str, cuesta: Cuesta) -> None:
    file = copy / name
    file.write_bytes(b"\x00" + file.read_bytes()[1:])
    text = cuesta("certify", "--verify", copy).ends(Exit.FAILED).out
    assert f"NOT VERIFIED  {copy}" in text
    assert name in text
    assert "InputError" not in text


def test_a_signature_of_another_record_is_detected_without_signers(copy: Path, cuesta: Cuesta) -> None:
    cuesta("certify", copy, "--sign", keygen(copy.parent / "key")).ends()
    (copy / "record.json").unlink()
    (copy / "run-1" / "meters.jsonl").unlink()
    cuesta("certify", copy).ends()
    text = cuesta("certify", "--verify", copy).ends(Exit.FAILED).out
    assert "record.json.sig: the signature does not fit the record" in text
    assert "it is signed" not in text


def test_the_ledger_prints_doubts_beside_a_row(copy: Path, cuesta: Cuesta) -> None:
    again = Path(shutil.copytree(copy, copy.parent / "copied"))
    (again / "record.json").write_text(json.dumps({**record(again), "grade": "certified"}, indent=1) + "\n")
    rows = [row for row in cuesta("ledger", copy, again).ends().out.splitlines() if "observation" in row]
    assert rows[0].endswith("  observation")
    assert rows[1].endswith(f"  observation: a copy of {copy}; NOT VERIFIED, see certify --verify")


def test_a_table_typed_from_1969_is_held_against_itself(cuesta: Cuesta) -> None:
    table = Path(__file__).parents[2] / "studies" / "certification" / "published.toml"
    text = cuesta("certify", "--verify", table).ends(Exit.FAILED).out
    assert "printed 25.4, reads as 15.4" in text
    assert "printed 214.3, computed 220.7" in text


@pytest.mark.parametrize(
    ("tape", "flags", "code", "text"),
    [
        ("Type a\nWait+Silence 100ms", (), Exit.BAD_INPUT, "it has no transaction `process creation`"),
        (TAPE.replace("Sleep 800ms", ""), (), Exit.BAD_INPUT, "no pause of 0.5 s or more right behind a barrier"),
        (TAPE.replace("800ms", "100ms"), (), Exit.BAD_INPUT, "no pause of 0.5 s or more right behind a barrier"),
        (TAPE, ("--sign", "none"), Exit.FAILED, "none: there is no such key"),
        (TAPE.replace("date; ls /", "date"), ("--reference", "MADE"), Exit.REFUSED, "is of another script"),
    ],
)
def test_what_cannot_be_certified_is_refused_before_anything_runs(
    made: Path, tape: str, flags: tuple[str, ...], code: Exit, text: str, write: Write, here: Path, cuesta: Cuesta
) -> None:
    write("tiny.tape", tape)
    given = [flag.replace("MADE", str(made)) for flag in flags]
    cuesta("certify", write("tiny.toml", PLAN), "--out", "out", *given).ends(code, text)
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("flags", "text"),
    [
        ("--runs 5", "--runs: goes with a plan"),
        ("--runs 0", "--runs: goes with a plan"),
        ("--comment x --absentee", "--absentee, --comment: goes with a plan"),
        ("--verify --out x", "--out: goes with a plan"),
        ("--verify --sign key", "--verify changes nothing"),
        ("--signers x", "--signers goes with --verify"),
    ],
)
def test_no_option_is_silently_without_effect(made: Path, flags: str, text: str, cuesta: Cuesta) -> None:
    cuesta("certify", made, *flags.split()).ends(Exit.USAGE, text)


ABSENTEE = """
Set KeyRate 0
Set WaitTimeout 60s
Transaction "absentee"
  Type "COMMANDS"
  Enter
  Type "exit"
  Enter
  Wait+Disconnect
End
Sleep 60m
"""


@pytest.fixture
def neighbours() -> Iterator[None]:
    """One for each CPU, which leave none idle."""
    spin = ["setpriv", "--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"]
    spinning = [subprocess.Popen(spin) for _ in range(len(os.sched_getaffinity(0)))]
    yield
    for each in spinning:
        each.kill()
        each.wait()


def benchmarked(commands: str, write: Write, here: Path, cuesta: Cuesta) -> tuple[dict[str, Any], str]:
    """Certify a benchmark of two processes, without a warm-up; returns its record, and what was printed."""
    write("tiny.tape", ABSENTEE.replace("COMMANDS", commands))
    plan = write("tiny.toml", PLAN.replace(" -i", "").replace("2500ms", "8s"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifier, "WARM_UP", 0)
        text = cuesta("certify", "--absentee", plan, "--runs", "1", "--out", "out", "--quiet").ends().out
    return record(here / "out"), text


@pytest.mark.nightly
@pytest.mark.usefixtures("neighbours")
def test_a_benchmark_that_sleeps_is_warned_of_also_while_neighbours_fill_the_cpus(
    write: Write, here: Path, cuesta: Cuesta
) -> None:
    document, text = benchmarked("sleep 1; ls / >/dev/null", write, here, cuesta)
    assert document["given"]["kind"] == "benchmark"
    d = {row["key"]: row["figure"]["value"] for row in document["measurements"]["d"]}
    assert list(d)[:4] == ["elapsed", "completion", "zero_idle", "own_idle"]
    assert 1.0 < d["elapsed"] < 60
    assert d["own_idle"] > 0.5
    assert d["zero_idle"] < 0.5 * d["own_idle"], "the CPUs are never idle for long"
    (warning,) = [each for each in document["warnings"] if "goes idle" in each]
    assert "its own processes leave" in warning
    assert "WARNING: the benchmark goes idle" in text


@pytest.mark.nightly
@pytest.mark.usefixtures("neighbours")
def test_a_benchmark_that_computes_does_not_sleep_while_others_have_the_cpus(
    write: Write, here: Path, cuesta: Cuesta
) -> None:
    document, _ = benchmarked("i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done", write, here, cuesta)
    (own,) = [row["figure"]["value"] for row in document["measurements"]["d"] if row["key"] == "own_idle"]
    assert own < 0.4, "they start a little apart, and end apart"


TWO = PLAN.replace("users = 2", "").replace(
    "[validity]", '[[group]]\nname = "a"\nusers = 2\n[[group]]\nname = "b"\nusers = 2\n[validity]'
)


@contextmanager
def as_made_before(made: Path, counted: int, interrupted: bool) -> Iterator[None]:
    """Certifications take the run of one that was made before, and end so."""

    def certify(job: Any, place: certifier.Series, *_: Any, **__: Any) -> certifier.CertifierResult:
        shutil.copytree(made / "run-1", place.folder / "run-1")
        return certifier.CertifierResult(interrupted, counted, {}, [])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(certifier, "certify", certify)
        yield


@pytest.mark.parametrize(("counted", "interrupted", "code"), [(1, False, 0), (0, False, 97), (1, True, 105)])
def test_groups_are_certified_one_after_another(
    counted: int, interrupted: bool, code: int, made: Path, write: Write, here: Path, cuesta: Cuesta
) -> None:
    write("tiny.tape", TAPE)
    plan = write("tiny.toml", TWO)
    with as_made_before(made, counted, interrupted):
        cuesta("certify", plan, "--runs", "1", "--out", "out", "--quiet", "--json", "out.json").ends(code)
    groups = ["a"] if interrupted else ["a", "b"]
    assert sorted(path.name for path in (here / "out").iterdir()) == groups
    assert list(json.loads((here / "out.json").read_text())) == groups
    assert all(record(here / "out" / group)["given"]["group"] == group for group in groups)
    cuesta("certify", "--verify", "out").ends()
    cuesta("certify", "out").ends(Exit.BAD_INPUT)  # each has a folder of its own
    with (here / "out" / groups[-1] / "run-1" / "agent-0" / "series.jsonl").open("a") as series:
        series.write("\n")
    cuesta("certify", "--verify", "out").ends(Exit.FAILED)


def test_one_run_is_not_held_against_a_reference(made: Path, write: Write, here: Path, cuesta: Cuesta) -> None:
    write("tiny.tape", TAPE)
    arguments = ["--runs", "1", "--out", "out", "--quiet", "--reference", made]
    with as_made_before(made, counted=1, interrupted=False):
        cuesta("certify", write("tiny.toml", PLAN), *arguments).ends()
    d = {row["key"]: row["figure"] for row in record(here / "out")["measurements"]["d"]}
    own = {row["key"]: row["figure"] for row in record(made)["measurements"]["d"]}
    assert d["reference"]["value"] == pytest.approx(own["command"]["value"])
    assert d["relative"]["value"] is None
    assert "takes 4 of each system: here are 1" in d["relative"]["why"]
