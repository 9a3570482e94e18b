"""Cuesta itself. The host is metered by this program, as for the other tools, and not by Cuesta."""

import json
from pathlib import Path

from peers.hosts import Work
from peers.job import PROGRAMS, Job, Told, output_of

CUESTA = str(Path(__file__).parents[2] / ".venv/bin/cuesta")
SETTLE = 1
"""Seconds after the ramp that Cuesta does not measure."""


class Cuesta:
    name = "Cuesta"
    purpose = "people at terminals: how many a host bears, and how it feels to type"

    def version(self) -> str:
        return output_of(CUESTA, "--version")

    def command(self, job: Job) -> list[str]:
        tape = {
            (Work.KEYS, "tcp"): "keys.tape",
            (Work.KEYS, "ssh"): "keys-ssh.tape",
            (Work.TRANSACTIONS, "tcp"): "transactions.tape",
            (Work.TRANSACTIONS, "ssh"): "transactions.tape",
            (Work.LOGINS, "ssh"): "logins.tape",
        }[job.work, job.host.way[0]]
        load = f"paced:{job.pause * 1000:.0f}ms" if job.pause else "closed"
        return [
            CUESTA, "run", str(PROGRAMS / tape), "--target", job.host.target, "--users", str(job.users), "--load", load,
            "--stagger", f"{job.ramp / job.users * 1e6:.0f}us", "--settle", f"{SETTLE}s",
            "--measure", f"{job.seconds - SETTLE:g}s", "--meters", "none", "--quiet",
            "--json", f"{job.folder}/summary.json", "--out", f"{job.folder}/run",
        ]  # fmt: skip

    def read_figures(self, job: Job) -> Told:
        summary = json.loads((job.folder / "summary.json").read_text(encoding="utf-8"))
        times = summary["echo"] if job.work is Work.KEYS else summary["response"]
        lateness = summary["lateness"]
        return Told(times["p99"], times["max"], lateness["p50"], lateness["p99"])
