"""Reports of meters with known figures, in JSON as `cuesta-meters` gives them."""

from typing import Any

from cuesta.records.meter_report import MeterReport
from cuesta.records.reading import from_json

Row = dict[str, Any]
UNTRACED = "only tracing can show this (the traced tier: `cuesta meters --exact`)"


def plain(value: object) -> Row:
    return {"value": value, "tier": "plain"}


def missing(why: str = "not counted here") -> Row:
    return {"why": why}


def events(count: int, seconds: float) -> Row:
    return plain({"count": count, "per_s": count / seconds})


def distribution(count: int, p50: float) -> Row:
    return {"count": count, "sum": 1.2 * count * p50, "p50": p50, "p90": 2 * p50, "p99": 4 * p50, "max": 9 * p50}


def cpu(usr: float = 20.0, sys: float = 10.0, irq: float = 1.0, iowait: float = 2.0, steal: float = 3.0) -> Row:
    idle = 100 - usr - sys - irq - iowait - steal
    shares = {"usr": usr, "sys": sys, "irq": irq, "iowait": iowait, "steal": steal, "idle": idle, "load": 100 - idle}
    return {name: plain(value) for name, value in shares.items()}


def typed(row: Row) -> MeterReport:
    """A report parsed from JSON of either form."""
    report: MeterReport = from_json(MeterReport, row)
    return report


def meter_report(at: int = 0, seconds: float = 30.0, part: bool = True, **other: Any) -> Row:
    """A report of a host that used 12 % of two CPUs, or of a whole machine."""
    own = {"usr": plain(8.0), "sys": plain(4.0), "percent": plain(12.0), "seconds": plain(0.24 * seconds)}
    device = {
        "reads": {"count": 60, "per_s": 2.0},
        "writes": {"count": 30, "per_s": 1.0},
        "read_bytes_per_s": 8192.0,
        "written_bytes_per_s": 4096.0,
        **{name: plain(0.5) for name in ("atb", "atb_reads", "atb_writes")},
        **{name: plain(0.002) for name in ("queue", "response", "service")},
        "busy": plain(0.6),
        "errors": missing("this kind of device does not count failed requests"),
    }
    interface = {
        "received": {"count": 900, "per_s": 30.0},
        "sent": {"count": 1800, "per_s": 60.0},
        "received_bytes_per_s": 60_000.0,
        "sent_bytes_per_s": 125_000.0,
        "dropped": {"count": 0, "per_s": 0.0},
        "speed": plain(125e6),
        "busy": plain(0.1),
    }
    return {
        "at": at,
        "wall": 1_795_000_000 * 10**9,
        "seconds": seconds,
        "subject": "pid:4711" if part else "machine",
        "cpus": [0, 1],
        "notes": ["CPU 2 came or went: it is left out"],
        "cpu": cpu(),
        "per_cpu": {"0": cpu(30.0), "1": cpu(10.0)},
        "own": {
            **own,
            "source": "exit_records" if part else "cpus",
            "others_are_rest": False,
            "doubt": None,
            "others": plain(18.0) if part else missing(),
            "irq": plain(1.0) if part else missing(),
            "tasks": plain(3.0),
            "processes": plain(2.0),
        },
        "counts": {
            "minor_faults": events(600, seconds),
            "major_faults": events(60, seconds),
            "voluntary_switches": events(300, seconds),
            "involuntary_switches": events(30, seconds),
            "switches": events(330, seconds),
            "wakeups": missing("only a kernel with CONFIG_SCHEDSTATS counts them"),
            "interrupts": events(3000, seconds),
            "softirqs": events(6000, seconds),
            "forks": events(3, seconds),
            "execs": missing(UNTRACED),
            "system_calls": missing(UNTRACED),
            "ios": events(90, seconds),
            "of_machine": ["interrupts", "softirqs", "forks", "wakeups", "ios"] if part else [],
        },
        "idle": {
            "zero": plain(64.0),
            "io_wait": plain(2.0),
            "throttled": plain(0.5),
            "queued_elsewhere": plain(0.1),
            "quota": plain(1.5),
            **{name: missing(UNTRACED) for name in ("page_wait", "loading", "quota_wait")},
        },
        "pressure": {"cpu_some": plain(4.0), "io_some": plain(0.2)},
        "total_time": [
            {
                "name": "page faults",
                "percent": missing("sampled"),
                "of_non_idle": missing(),
                "average": missing(),
            },
            {"name": "system", "percent": plain(10.0), "of_non_idle": plain(32.3), "average": missing()},
            {"name": "interrupts", "percent": plain(1.0), "of_non_idle": plain(3.2), "average": plain(6.7e-5)},
            {"name": "user", "percent": plain(20.0), "of_non_idle": plain(64.5), "average": missing()},
            {"name": "zero idle", "percent": plain(64.0), "of_non_idle": missing(), "average": missing()},
        ],
        "traffic": {
            "running": plain(0.24),
            "ready": plain(0.01),
            "in_io": missing("`sysctl kernel.task_delayacct=1` allows it"),
            "ready_delay": plain(0.000_12),
            "dispatches": events(2500, seconds),
            "run_delay": plain(0.3),
            "io_delay": missing(),
            "load_average": plain(1.55),
            "page_waits": missing(UNTRACED),
            "page_wait": missing(UNTRACED),
            "run_queue_delay": missing(UNTRACED),
            "off_cpu": missing(UNTRACED),
        },
        "devices": {"vda": device},
        "interfaces": {"eth0": interface},
        "by_cause": missing("the sampler is not on"),
        "closure": {
            "accounted": plain(99.8),
            "parts": {"subject": 12.0, "others": 18.0, "idle": 66.0, "steal": 3.8},
            "interrupts": 1.0,
            "tolerance": 2.1,
            "closes": True,
        },
        "cost": plain(0.003),
        **other,
    }


def traced(**other: Any) -> Row:
    """A copy of a report, as the traced tier would make it."""
    report = meter_report(**other)
    exact = {"zero": 40.0, "page_wait": 12.0, "loading": 3.0, "io_wait": 8.0, "quota_wait": 1.0}
    report["idle"] |= {name: {"value": value, "tier": "exact"} for name, value in exact.items()}
    report["counts"]["execs"] = {"value": {"count": 3, "per_s": 0.1}, "tier": "exact"}
    report["traffic"]["page_waits"] = {"value": {"count": 60, "per_s": 2.0}, "tier": "exact"}
    report["traffic"]["page_wait"] = {"value": 31.4e-6, "tier": "exact"}
    report["traffic"]["run_queue_delay"] = {"value": distribution(360, 5e-6), "tier": "exact"}
    off_cpu = {"sleep": distribution(300, 0.08), "page": distribution(60, 31e-6)}
    report["traffic"]["off_cpu"] = {"value": off_cpu, "tier": "exact"}
    rows = {"user_and_calls": 10.0, "interrupts": 0.5}
    causes = {
        name: {
            "percent": {"value": value, "tier": "exact"},
            "seconds": {"value": 0.02 * value, "tier": "exact"},
            "count": missing("it has no occurrences"),
            "average": missing("it has no occurrences"),
        }
        for name, value in rows.items()
    }
    report["by_cause"] = {"value": {"causes": causes, "unclassified": 0.0, "about": {}}, "tier": "exact"}
    return report
