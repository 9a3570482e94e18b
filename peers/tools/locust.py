"""Locust, from PyPI, in an environment of its own that `scripts/peers` makes."""

import csv
import os

from peers.hosts import Work
from peers.job import PROGRAMS, Job, Told, output_of

LOCUST = os.environ.get("PEERS_LOCUST", "locust")


class Locust:
    name = "Locust"
    purpose = "behaviour of web users, written in Python; a web page to watch and steer it"

    def version(self) -> str:
        return " ".join(output_of(LOCUST, "--version").split()[:2])

    def command(self, job: Job) -> list[str]:
        return [
            LOCUST, "-f", str(PROGRAMS / "locust_users.py"), "Typist" if job.work is Work.KEYS else "Inquirer",
            "--headless", "--users", str(job.users), "--spawn-rate", f"{job.users / job.ramp:g}",
            "--run-time", f"{job.ramp + job.seconds:.0f}s", "--host", f"tcp://127.0.0.1:{job.host.way[1]}",
            "--csv", f"{job.folder}/locust",
        ]  # fmt: skip

    def read_figures(self, job: Job) -> Told:
        return told_by((job.folder / "locust_stats.csv").read_text(encoding="utf-8"))


def told_by(stats: str) -> Told:
    """What the row of all requests says."""
    (row,) = (row for row in csv.DictReader(stats.splitlines()) if row["Name"] == "Aggregated")
    return Told(float(row["99%"]) / 1000, float(row["Max Response Time"]) / 1000)
