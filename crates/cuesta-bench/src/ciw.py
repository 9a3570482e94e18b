"""The limit of a simulation: the same closed network in Ciw, in a process of its own. Prints an outcome as JSON."""

import json
import os
import sys
import time
from typing import Any

import ciw  # type: ignore[import-not-found]

job: dict[str, Any] = json.loads(sys.argv[1])
os.sched_setaffinity(0, {job["cpu"]})


class AllAtOnce(ciw.dists.Distribution):  # type: ignore[misc]
    """Lets `count` customers arrive at the beginning, and no more later."""

    def __init__(self, count: int) -> None:
        self.left = count

    def sample(self, *_: object, **_unused: object) -> float:
        self.left -= 1
        return 0.0 if self.left >= 0 else float("inf")


network = ciw.create_network(
    arrival_distributions=[AllAtOnce(job["users"]), None],
    service_distributions=[ciw.dists.Exponential(1 / job["think"]), ciw.dists.Exponential(1 / job["service"])],
    number_of_servers=[float("inf"), 1],
    routing=[[0.0, 1.0], [1.0, 0.0]],
)
ciw.seed(1)
simulation = ciw.Simulation(network)
begin = time.process_time()
simulation.simulate_until_max_time(job["seconds"])
cpu = time.process_time() - begin
events = len(simulation.get_all_records())
print(json.dumps({"events": events, "cpu": cpu, "memory": 0.0}))
