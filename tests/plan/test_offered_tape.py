"""Without a tape nothing is typed at a host that is not the built-in one."""

from pathlib import Path

import pytest

from cuesta import _native
from cuesta.errors import UsageError
from cuesta.plan import RawOptions, load
from cuesta.plan.offered_tape import fit_words, offer_tape

TARGETS = [
    "ssh://nu1@host.invalid",
    "telnets://host.invalid",
    "tcp://host.invalid:7",
    "pty:bash -l",
    "pipe:cat",
    "serial:/dev/ttyS0",
    "tn3270s://host.invalid",
    "bsc://host.invalid:1",
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_without_a_tape_is_offered_one_that_suits_it(tmp_path: Path, target: str) -> None:
    with pytest.raises(UsageError, match="which tape") as raised:
        load(RawOptions(flags={"target": target}), tmp_path)
    remedy = str(raised.value.remedy)
    assert ("cuesta record --target" in remedy) == (not target.startswith(("tn3270", "bsc")))
    rows = offer_tape(target)
    assert all(row in remedy for row in rows)
    tape = _native.Tape.parse("\n".join(rows), "first.tape", ".")
    assert tape.misfit(_native.target(target)) is None
    assert not tape.is_idle()
    assert ("--data" in remedy) == bool(tape.columns())


def test_a_plan_without_a_tape_is_offered_one_too(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('target = "pty:bash"\n')
    with pytest.raises(UsageError, match="which tape") as raised:
        load(RawOptions(plan=tmp_path / "plan.toml"), tmp_path)
    assert 'plan.toml:  tape = "first.tape"' in str(raised.value.remedy)


def test_a_tape_that_somebody_named_is_typed(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('tape = "mine.tape"\ntarget = "pty:bash"\n')
    options = [
        RawOptions(),
        RawOptions(tape="builtin:interactive", flags={"target": "pty:bash"}),
        RawOptions(plan=tmp_path / "plan.toml"),
    ]
    assert [load(each, tmp_path).settings.group[0].target for each in options] == ["host:", "pty:bash", "pty:bash"]
    (tmp_path / "cuesta.toml").write_text('tape = "mine.tape"\n')
    assert load(RawOptions(flags={"target": "pty:bash"}), tmp_path).settings.group[0].tape.endswith("mine.tape")


@pytest.mark.parametrize(
    ("target", "words"),
    [("pty:LANG=C /usr/bin/typing -x", ["typing", "typing"]), ("pty:./mytui", ["typing"]), ("pipe:cat", [])],
)
def test_words_of_tapes_that_suit_a_program_are_offered(target: str, words: list[str]) -> None:
    assert fit_words(target) == words
