#!/usr/bin/env python3
"""Starts an ssh server on loopback for the study: `studies/ssh-servers/servers.py openssh -- cuesta run PLAN`.

    servers.py openssh|dropbear|tinysshd|none [-- COMMAND …]
    servers.py all -- cuesta run PLAN --out runs/{server}

The command gets the server's target in CUESTA_TARGET, so that `cuesta run` types there. `{server}` in its words is
replaced by the server's name. The server ends with the command; without one, with Ctrl+C. `all` runs the command once
for each, one after another. `none` is the baseline: the same shell of the same account on the driver's own terminals,
without ssh.

At the end the script says how many logins the server's own log has and, with `--memory`, what memory the sessions took:
the proportional set size (PSS) of their processes, by program. To read it the kernel walks over each process's pages,
so use a run of its own for memory.

A server has keys, a log and an account `typist` of its own in a temporary folder. It runs in its own mount and process
namespaces: the account and its home exist only there, and the kernel ends all sessions with the server. This takes
root. So does a server for many people: without root OpenSSH does not separate privileges, and a session is one process
instead of two.
"""

import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from studies.serving import ACCOUNT, Server, main, program
from studies.sshd import OPENSSH, admit_users, target_over_ssh


def serve_dropbear(folder: Path, port: int) -> list[str]:
    admit_users(folder, port, public_key(["dropbearkey", "-t", "ed25519", "-f", str(folder / "host")]))
    own = ["-p", f"127.0.0.1:{port}", "-r", str(folder / "host"), "-P", str(folder / "pid")]
    return [program("dropbear"), "-F", "-E", "-s", *own]


def serve_tinysshd(folder: Path, port: int) -> list[str]:
    """It serves one connection, so tcpsvd starts one for each."""
    subprocess.run([program("tinysshd-makekey"), "-q", str(folder / "keys")], check=True)
    admit_users(folder, port, public_key(["tinysshd-printkey", str(folder / "keys")]))
    return [program("tcpsvd"), "-E", "-c", "10000", "127.0.0.1", str(port), program("tinysshd"), "-v", f"{folder}/keys"]


def public_key(command: list[str]) -> str:
    """The ed25519 key that a program prints."""
    said = subprocess.run([program(command[0]), *command[1:]], check=True, capture_output=True, text=True).stdout
    return next(row[row.index("ssh-ed25519 ") :] for row in said.splitlines() if "ssh-ed25519 " in row)


SERVERS = {
    "openssh": OPENSSH,
    "dropbear": Server(serve_dropbear, target_over_ssh, "Pubkey auth succeeded for"),
    "tinysshd": Server(serve_tinysshd, target_over_ssh, f"auth: {ACCOUNT}: .* accepted"),
}

if __name__ == "__main__":
    sys.exit(main(SERVERS, __doc__))
