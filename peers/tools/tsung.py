"""Tsung. By default it tells mean and extremes of each 10 s; its backend `fullstats` keeps all values."""

import re
from pathlib import Path
from string import Template

from peers.hosts import INPUT, Work
from peers.job import PROGRAMS, Job, Told, output_of

PERCENTILES = "/usr/lib/x86_64-linux-gnu/tsung/bin/tsung_percentile.pl"


class Tsung:
    name = "Tsung"
    purpose = "load of HTTP, XMPP, MQTT, LDAP, databases and others, from many machines"

    def version(self) -> str:
        return output_of("tsung", "-v")

    def command(self, job: Job) -> list[str]:
        plan = Template((PROGRAMS / "tsung.xml").read_text(encoding="utf-8")).substitute(
            backend="fullstats" if job.percentiles else "text",
            port=job.host.way[1],
            duration=round(job.ramp + job.seconds),
            rate=round(job.users / job.ramp),
            users=job.users,
            input="a" if job.work is Work.KEYS else f"{INPUT}&#13;",
            pause=f'<thinktime value="{job.pause}"/>' if job.pause else "",
        )
        (job.folder / "tsung.xml").write_text(plan, encoding="utf-8")
        return ["tsung", "-f", f"{job.folder}/tsung.xml", "-l", f"{job.folder}/tsung", "start"]

    def read_figures(self, job: Job) -> Told:
        if not job.percentiles:
            return Told()
        (stats,) = (job.folder / "tsung").glob("*/tsung-fullstats.log")
        return Told(
            p99_of(output_of("perl", PERCENTILES, "--stats", str(stats), "--percentiles", "99")), longest(stats)
        )


def p99_of(percentiles: str) -> float:
    """The p99 of requests that `tsung_percentile.pl` prints, in seconds."""
    p99 = re.search(r"values for sample,request\nPercentile 99 : ([\d.]+)", percentiles)
    if not p99:
        raise ValueError(f"Tsung told no p99: {percentiles!r}")
    return float(p99[1]) / 1000


def longest(stats: Path) -> float:
    """The longest request that Tsung has logged, in seconds: the largest of the values of each 10 s."""
    values = re.findall(r"\{sample,request,\s*\[?([^\]}]*)", stats.read_text(encoding="utf-8"))
    return max(float(value) for group in values for value in group.split(",")) / 1000
