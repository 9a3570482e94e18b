"""Signs records with an SSH key (`ssh-keygen -Y`), and checks signatures against a file of allowed signers.

The signature covers `record.json`, which holds the hashes of all raw files. It is kept beside it, as `record.json.sig`.
"""

import subprocess
from pathlib import Path

from cuesta.errors import CuestaError
from cuesta.ledger.certification import RECORD, SIGNATURE

NAMESPACE = "cuesta-record"
"""What the signature is for (`ssh-keygen -n`): one made for something else is refused."""
PATIENCE = 120.0
"""Seconds to type a passphrase."""


def see_key(key: Path) -> None:
    """Check that a file holds an SSH key before anything is measured. Raises CuestaError."""
    remedy = "make one with `ssh-keygen -t ed25519`, or name its public half"
    if not key.is_file():
        raise CuestaError(f"{key}: there is no such key", remedy)
    done = ssh_keygen(["-l", "-f", str(key)])
    if done.returncode:
        raise CuestaError(f"{key}: is no SSH key: {said(done)}", remedy)


def sign(folder: Path, key: Path) -> Path:
    """Raises CuestaError with what ssh-keygen said."""
    see_key(key)
    (folder / SIGNATURE).unlink(missing_ok=True)
    done = ssh_keygen(["-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(folder / RECORD)])
    if done.returncode:
        raise CuestaError(f"{key}: cannot sign: {said(done)}")
    return folder / SIGNATURE


def signer(folder: Path, signers: Path) -> str:
    """Name the allowed signer of a record. Raises CuestaError if none of them signed it, or the record changed."""
    signature = folder / SIGNATURE
    if not signature.exists():
        raise CuestaError(f"{folder}: the record is not signed", "sign it: cuesta certify --sign KEY FOLDER")
    if not signers.exists():
        raise CuestaError(f"{signers}: there is no such file of signers", "a row for each: NAME ssh-ed25519 AAAA…")
    found = ssh_keygen(["-Y", "find-principals", "-s", str(signature), "-f", str(signers)])
    names = found.stdout.decode(errors="replace").split()
    if found.returncode or not names:
        raise CuestaError(f"{signature}: signed by nobody in {signers}")
    record = (folder / RECORD).read_bytes()
    checks = ["-Y", "verify", "-f", str(signers), "-I", names[0], "-n", NAMESPACE, "-s", str(signature)]
    done = ssh_keygen(checks, record)
    if done.returncode:
        raise CuestaError(f"{signature}: the signature does not fit the record: {said(done)}")
    return names[0]


def unfit(folder: Path) -> list[str]:
    """Say that the signature is of another record, whoever made it; empty if it fits or there is none."""
    signature = folder / SIGNATURE
    if not signature.exists():
        return []
    check = ["-Y", "check-novalidate", "-n", NAMESPACE, "-s", str(signature)]
    done = ssh_keygen(check, (folder / RECORD).read_bytes())
    return [f"{signature.name}: the signature does not fit the record: {said(done)}"] if done.returncode else []


def ssh_keygen(arguments: list[str], given: bytes | None = None) -> "subprocess.CompletedProcess[bytes]":
    """Run ssh-keygen; it asks for a passphrase at the terminal."""
    command = ["ssh-keygen", *arguments]
    try:
        return subprocess.run(command, input=given or b"", capture_output=True, check=False, timeout=PATIENCE)
    except FileNotFoundError:
        raise CuestaError("there is no ssh-keygen here", "install OpenSSH's client") from None
    except subprocess.TimeoutExpired:
        raise CuestaError(f"ssh-keygen did not end within {PATIENCE:.0f} s") from None


def said(done: "subprocess.CompletedProcess[bytes]") -> str:
    rows = (done.stderr or done.stdout).decode(errors="replace").strip().splitlines()
    return rows[-1] if rows else f"ssh-keygen ended with {done.returncode}"
