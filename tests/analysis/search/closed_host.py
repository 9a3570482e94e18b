"""Hosts that are models, under the driver's own users in virtual time: a key, the response, a think time."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from cuesta import _native

NANO = 10**9
TAPE = "Set TypingSpeed 0ms\nEnter\nWait+Bytes@86400s 1\nThink exp {think}s\n"


@dataclass(frozen=True)
class ClosedHost:
    """Servers that share one queue, and a delay that every response has besides. Times are seconds."""

    service: str
    """Kind of the distribution of service times: `exp` or `fixed`."""
    mean: float
    servers: int = 1
    delay: float = 0.0
    think: float = 10.0
    """The mean of exponential think times."""
    speeds: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """The speed of the servers above a population (docs/simulation.md)."""

    def p95(self, users: int, seed: int, warm_up: float, measured: float, pace: float = 1.0) -> float:
        """The 95th percentile of the responses in the measured interval. `pace` multiplies all service times."""
        servers = {"name": "servers", "demand": f"{self.service} {self.mean * pace * 1e9:.0f}ns"}
        stations: list[dict[str, Any]] = [{**servers, "servers": self.servers, "speeds": list(self.speeds)}]
        if self.delay:
            stations.append({"name": "delay", "demand": f"fixed {self.delay * 1e9:.0f}ns", "servers": None})
        step = {"settle": round(warm_up * NANO), "measure": round(measured * NANO)}
        load = {"users": users, "stagger": 0, "load": {"kind": "closed"}}
        group = {"name": "users", "script": "tape", "target": "loopback"}
        run = {"seed": seed, "drain": 0, "groups": [group], "steps": [{**step, "groups": [load]}]}
        host = {"stations": stations}
        # Only the histograms are read, so the other figures may be few.
        spec = json.dumps({"run": run, "host": host, "batches": 10, "percentiles": []})
        _, histograms = _native.simulate(spec, {"tape": tape(self.think)})
        return float(histograms["0/users/tape/response"].quantile(0.95))


@cache
def tape(think: float) -> _native.Tape:
    return _native.Tape.parse(TAPE.format(think=think), "tape", ".")
