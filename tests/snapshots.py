"""Snapshots of agents, made up."""

from typing import Any

from cuesta.records.messages import Snapshot
from cuesta.records.observation import Observation
from cuesta.records.reading import from_json
from tests.hdr import encode

TIMED = ("response", "echo", "lateness")


def snapshot(**fields: Any) -> Snapshot:
    """A snapshot of one agent; its times are given in seconds, and none if they are left out."""
    base = {
        "seconds": 10.0,
        "total": 30.0,
        "step": 0,
        "steps": 1,
        "phase": "measure",
        "users": 3,
        "transactions": 5,
        "length": 1.0,
        "errors": 1,
        "waiting": {"oldest": 0.0},
        "long_wait": None,
    }
    times = {name: encode(fields[name]) if fields.get(name) else None for name in TIMED}
    return from_json(Snapshot, base | fields | times)


def observation(**fields: Any) -> Observation:
    """What is seen of a run of one agent; as `snapshot`."""
    return Observation(snapshots=[snapshot(**fields)])
