"""OpenSSH's server on loopback, with keys of its own, and how people log in at ssh servers; for two studies."""

import subprocess
from pathlib import Path

from studies.serving import ACCOUNT, Server, own_home, program

SSHD = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
UsePAM no
PasswordAuthentication no
MaxStartups 1000
"""
"""Else OpenSSH's defaults. `MaxStartups` lets users log in faster than ten at a time."""


def serve_openssh(folder: Path, port: int) -> list[str]:
    keygen(folder / "host")
    admit_users(folder, port, (folder / "host.pub").read_text())
    (folder / "sshd_config").write_text(SSHD.format(port=port, folder=folder))
    own_run = 'mkdir -p /run/sshd && mount -t tmpfs -o mode=755 tmpfs /run/sshd && exec "$@"'
    return ["sh", "-c", own_run, "sh", program("sshd"), "-D", "-e", "-f", str(folder / "sshd_config")]


def admit_users(folder: Path, port: int, host_key: str) -> None:
    """Make a key with which the account is let in, and write down the host's public one."""
    home = folder / "homes" / ACCOUNT
    (home / ".ssh").mkdir()
    keygen(folder / "client")
    (home / ".ssh/authorized_keys").write_text((folder / "client.pub").read_text())
    own_home(home)
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {host_key}\n")


def target_over_ssh(folder: Path, port: int) -> str:
    own = f"identity={folder}/client&known_hosts={folder}/known_hosts&config=none&agent=off"
    return f"ssh://{ACCOUNT}@127.0.0.1:{port}?{own}"


def keygen(path: Path) -> None:
    """Make a key without a passphrase, and its `.pub`."""
    command = [program("ssh-keygen"), "-q", "-t", "ed25519", "-N", "", "-C", "study", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)


OPENSSH = Server(serve_openssh, target_over_ssh, "Accepted publickey for")
