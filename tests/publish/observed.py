"""What is seen of a run: made up, or of a real one."""

import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cuesta.engine.console import Console, Requests
from cuesta.engine.ports import Observer
from cuesta.live.view import merge
from cuesta.plan import RawOptions
from cuesta.publish.metrics import Metrics
from cuesta.records.observation import Observation
from cuesta.workflow.control import Control
from cuesta.workflow.measure import measure, prepare_run
from cuesta.workflow.run_result import Run
from tests.hdr import encode
from tests.snapshots import snapshot

TOTALS = {"transactions": 6, "keys": 40, "characters": {"in": 30, "out": 400}, "errors": {"refused": 2}}
USERS, PASSES = 8, 30
TAPE = f"""\
Set Echo timed
Set KeyRate 50cps
Repeat {PASSES}
  Transaction "query"
    Type "who"
    Enter
    Wait+Bytes 150
  End
End
Think 1h
"""


def seen(series: Mapping[str, Iterable[float]], **fields: Any) -> Observation:
    """One moment of a run of one agent: durations of its series in seconds; as `snapshot` else."""
    encoded = {tag: encode(durations) for tag, durations in series.items()}
    return Observation(snapshots=[snapshot(series=encoded, **({"totals": TOTALS} | fields))])


def take(metrics: Metrics, observed: Observation) -> None:
    """Have metrics take what is seen, as the process does that publishes a run."""
    if view := merge(observed):
        metrics.take(observed.snapshots, view)


def observe_run(here: Path, observer: Observer) -> Run:
    """Make a run of two agents at the built-in host; each series is seen by itself.

    It ends when each user has made all its transactions, so that what is seen is what was measured.
    """
    requests, stop = Requests(), threading.Event()
    requests.watch("test", series=True)
    (here / "queries.tape").write_text(TAPE)

    def look(observed: Observation) -> None:
        observer(observed)
        totals = [each.totals.transactions for each in observed.snapshots if each.totals]
        if sum(totals) == USERS * PASSES:
            stop.set()

    settings = {"users": USERS, "agents": 2, "settle": 0, "stagger": 0, "measure": "100s"}
    host = {"service": "transaction 150", "service_time": "exp 3ms"}
    options = RawOptions(tape="queries.tape", keywords={**settings, "host": host})
    job = prepare_run(options, here, here / "run")
    return measure(job, here / "run", Control(Console(look, stop, requests)))
