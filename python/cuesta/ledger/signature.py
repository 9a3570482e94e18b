"""Signs records with an SSH key (`ssh-keygen -Y`), and checks signatures against a file of allowed signers.

The signature covers `record.json`, which holds the hashes of all raw files. It is kept beside it, as `record.json.sig`.
"""

import subprocess
from pathlib import Path

from cuesta.errors import CuestaError
from cuesta.ledger.certification import RECORD, SIGNATURE

NAMESPACE = "cuesta-record"
"""The purpose in the signature (`ssh-keygen -n`); signatures for other purposes are refused."""
PATIENCE = 120.0
"""Seconds within which ssh-keygen must end; it may ask for a passphrase."""


def check_key(key: Path) -> None:
    """Raise CuestaError if the file holds no SSH key."""
    remedy = "make one with `ssh-keygen -t ed25519`, or name its public half"
    if not key.is_file():
        raise CuestaError(f"{key}: there is no such key", remedy)
    result = ssh_keygen(["-l", "-f", str(key)])
    if result.returncode:
        raise CuestaError(f"{key}: is not an SSH key: {last_row(result)}", remedy)


def sign(folder: Path, key: Path) -> Path:
    """Raises CuestaError with ssh-keygen's message."""
    check_key(key)
    (folder / SIGNATURE).unlink(missing_ok=True)
    result = ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(folder / RECORD)])
    if result.returncode:
        raise CuestaError(f"{key}: cannot sign: {last_row(result)}")
    return folder / SIGNATURE


def find_signer(folder: Path, signers: Path) -> str:
    """The allowed signer who signed the record. Raises CuestaError if none did, or the record changed since."""
    signature = folder / SIGNATURE
    if not signature.exists():
        raise CuestaError(f"{folder}: the record is not signed", "sign it: cuesta certify --sign KEY FOLDER")
    if not signers.exists():
        raise CuestaError(f"{signers}: there is no such file", "a row for each: NAME ssh-ed25519 AAAA…")
    search = ssh_keygen(["-Y", "find-principals", "-s", str(signature), "-f", str(signers)])
    names = search.stdout.decode(errors="replace").split()
    if search.returncode or not names:
        raise CuestaError(f"{signature}: none of the signers in {signers} signed it")
    record = (folder / RECORD).read_bytes()
    checks = ["-Y", "verify", "-f", str(signers), "-I", names[0], "-n", NAMESPACE, "-s", str(signature)]
    result = ssh_keygen(checks, record)
    if result.returncode:
        raise CuestaError(f"{signature}: the signature does not fit the record: {last_row(result)}")
    return names[0]


def list_misfits(folder: Path) -> list[str]:
    """A sentence if the signature does not fit the record, by any key; empty if it fits or there is none."""
    signature = folder / SIGNATURE
    if not signature.exists():
        return []
    check = ["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]
    result = ssh_keygen(check, (folder / RECORD).read_bytes())
    return [f"{signature.name}: the signature does not fit the record: {last_row(result)}"] if result.returncode else []


def ssh_keygen(arguments: list[str], data: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen with `data` as input. It asks for a passphrase at the terminal."""
    command = ["ssh-keygen", *arguments]
    try:
        return subprocess.run(command, input=data or b"", capture_output=True, check=False, timeout=PATIENCE)
    except FileNotFoundError:
        raise CuestaError("there is no ssh-keygen here", "install OpenSSH's client") from None
    except subprocess.TimeoutExpired:
        raise CuestaError(f"ssh-keygen did not end within {PATIENCE:.0f} s") from None


def last_row(result: "subprocess.CompletedProcess[bytes]") -> str:
    rows = (result.stderr or result.stdout).decode(errors="replace").strip().splitlines()
    return rows[-1] if rows else f"ssh-keygen ended with {result.returncode}"
