"""Certificates of a test's own authority, made by openssl."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.daemons import needed

ON_LOOPBACK = "subjectAltName=DNS:localhost,IP:127.0.0.1"


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as PEM files; it is signed by the authority, whose own certificate is a file too."""

    file: Path
    key: Path
    authority: Path


def make_certificate(folder: Path, name: str = "server") -> Certificate:
    """Make one for servers on loopback, or for a client of that name. The folder's authority, made first, signs it."""
    authority = folder / "authority.pem"
    if not authority.exists():
        request(folder / "authority", "basicConstraints=critical,CA:TRUE")
    request(
        folder / name,
        ON_LOOPBACK,
        "-addext",
        "basicConstraints=critical,CA:FALSE",
        "-CA",
        str(authority),
        "-CAkey",
        str(authority.with_suffix(".key")),
    )
    return Certificate(folder / f"{name}.pem", folder / f"{name}.key", authority)


def request(path: Path, extension: str, *signed: str) -> None:
    """Make `PATH.pem` and `PATH.key`; signed by itself, unless `signed` says by whom."""
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{path}.key"]
    said = ["-subj", f"/CN={path.name}", "-addext", extension, "-days", "2", "-out", f"{path}.pem"]
    command = [needed("openssl"), "req", "-x509", *key, *said, *signed]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL)
