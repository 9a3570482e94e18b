"""Signatures by the real ssh-keygen."""

import subprocess
from pathlib import Path

import pytest

from cuesta.errors import CuestaError
from cuesta.ledger.signature import check_key, find_signer, list_misfits, sign
from tests.daemons import keygen


def signers(here: Path, *names: str) -> Path:
    rows = (f"{name}@example {(here / f'{name}.pub').read_text()}" for name in names)
    (here / "signers").write_text("".join(rows))
    return here / "signers"


@pytest.fixture
def signed(here: Path) -> Path:
    """A folder whose record ann has signed; ben has a key too."""
    (here / "record.json").write_text('{"format": 1}\n')
    keygen(here / "ben", "ben")
    sign(here, keygen(here / "ann", "ann"))
    return here


def test_who_signed_is_named(signed: Path) -> None:
    assert find_signer(signed, signers(signed, "ben", "ann")) == "ann@example"


def test_a_record_is_signed_again(signed: Path) -> None:
    sign(signed, signed / "ben")
    assert find_signer(signed, signers(signed, "ben", "ann")) == "ben@example"


def test_another_person_is_not_accepted_as_the_signer(signed: Path) -> None:
    with pytest.raises(CuestaError, match="none of the signers in"):
        find_signer(signed, signers(signed, "ben"))


@pytest.mark.parametrize("text", ['{"format": 2}\n', '{"format": 1}\n\n', ""])
def test_a_changed_record_is_found(signed: Path, text: str) -> None:
    (signed / "record.json").write_text(text)
    with pytest.raises(CuestaError, match="does not fit the record"):
        find_signer(signed, signers(signed, "ann"))


def test_a_changed_record_is_found_without_knowing_who_may_sign(signed: Path) -> None:
    assert list_misfits(signed) == []
    (signed / "record.json").write_text('{"format": 2}\n')
    assert "does not fit the record" in "".join(list_misfits(signed))
    (signed / "record.json.sig").unlink()
    assert list_misfits(signed) == [], "an unsigned record makes no claim"


def test_a_signature_for_something_else_is_refused(signed: Path) -> None:
    (signed / "record.json.sig").unlink()
    command = ["ssh-keygen", "-q", "-Y", "sign", "-f", str(signed / "ann"), "-n", "git", str(signed / "record.json")]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(CuestaError, match="does not fit the record"):
        find_signer(signed, signers(signed, "ann"))


def test_missing_files_and_programs_are_named(here: Path) -> None:
    with pytest.raises(CuestaError, match="there is no such key"):
        sign(here, here / "none")
    (here / "no-key").write_text("x")
    with pytest.raises(CuestaError, match="is not an SSH key"):
        check_key(here / "no-key")
    with pytest.raises(CuestaError, match="is not signed"):
        find_signer(here, here / "signers")
    (here / "record.json.sig").write_text("x")
    with pytest.raises(CuestaError, match="signers: there is no such file"):
        find_signer(here, here / "signers")
