"""The process that joins a Ray cluster for an engine: `python -m cuesta.engine.ray.cluster_process`.

Standard input has rows of JSON: first what is wanted, `{"address": …, "nodes": 3, "cpus": 1}`, then calls of actors,
`{"call": 7, "node": 0, "method": "check", "argument": …}`. Standard output answers: `opened` or `failed`, then for each
call `{"answer": 7, "value": …}` or `{"answer": 7, "error": "…"}`; `{"died": 0, "why": "…"}` when an actor has died, and
`{"lost": "…"}` when the cluster no longer answers. The end of the input ends it, and a cluster that it has started.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray
from ray.cluster_utils import Cluster
from ray.exceptions import ActorUnavailableError, RayActorError, RayError
from ray.util import placement_group, remove_placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from cuesta.engine.ray import node_actor
from cuesta.units import many

PLACEMENT_TIMEOUT = 30.0
"""Seconds within which the cluster must have room for all actors."""
CALLS_AT_ONCE = 64
"""Calls of an actor that may be under way: one waits as long as it lives."""
STORE_BYTES = 80_000_000
"""Bytes of the store of objects of a node that is started here: the orders of agents go through it."""
FINISH_TIMEOUT = 5.0
"""Seconds within which agents must have left their nodes."""
HEAD_EVERY, HEAD_TIMEOUT = 1.0, 5.0
"""Seconds between questions to the head whether it is there, and within which it must answer."""


class Rows:
    """Standard output, for rows alone: what Ray prints goes to standard error."""

    def __init__(self) -> None:
        self._file = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self._lock = threading.Lock()

    def say(self, **row: Any) -> None:
        with self._lock:
            self._file.write(json.dumps(row) + "\n")
            self._file.flush()


def main() -> None:
    rows, order = Rows(), json.loads(sys.stdin.readline())
    try:
        nodes, cpus = order["nodes"], order["cpus"]
        joined = join(order["address"]) if order["address"] else start(nodes, cpus)
        with joined, place(nodes, cpus) as actors:
            described = [ray.get(actor.describe.remote([])) for actor in actors]
            own = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
            rows.say(opened={"address": own, "nodes": described})
            for number, actor in enumerate(actors):
                threading.Thread(target=watch_actor, args=(number, actor, rows), daemon=True).start()
            threading.Thread(target=watch_head, args=(rows,), daemon=True).start()
            for text in sys.stdin:
                call(actors, json.loads(text), rows)
            ray.wait([actor.finish.remote([]) for actor in actors], num_returns=nodes, timeout=FINISH_TIMEOUT)
    except (RayError, ConnectionError, RuntimeError, TimeoutError, ValueError) as error:
        rows.say(failed=first_sentence(error))


QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}


@contextmanager
def join(address: str) -> Iterator[None]:
    """Join the cluster at an address."""
    ray.init(address=address, **QUIET)
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def start(nodes: int, cpus: int) -> Iterator[None]:
    """Start a cluster of `nodes` nodes here, and join it; it ends with the block."""
    settings: dict[str, Any] = {"num_cpus": cpus, "object_store_memory": STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=settings)
    try:
        for _ in range(nodes - 1):
            cluster.add_node(**settings)
        ray.init(address=cluster.address, **QUIET)
        yield
    finally:
        ray.shutdown()
        cluster.shutdown()  # type: ignore[no-untyped-call]


@contextmanager
def place(nodes: int, cpus: int) -> Iterator[list[Any]]:
    """Place an actor on each of `nodes` nodes. Raises TimeoutError if the cluster has no room for them."""
    group = placement_group([{"CPU": cpus}] * nodes, strategy="STRICT_SPREAD")
    try:
        if not group.wait(PLACEMENT_TIMEOUT):
            raise TimeoutError(describe_shortage(nodes, cpus))
        ray.cloudpickle.register_pickle_by_value(node_actor)  # type: ignore[no-untyped-call]
        actor: Any = ray.remote(node_actor.NodeActor)
        needs = {"num_cpus": cpus, "max_concurrency": CALLS_AT_ONCE}
        places = (PlacementGroupSchedulingStrategy(group, number) for number in range(nodes))
        yield [actor.options(**needs, scheduling_strategy=each).remote() for each in places]
    finally:
        remove_placement_group(group)


def describe_shortage(nodes: int, cpus: int) -> str:
    """What the cluster has of what was asked for."""
    alive = [node for node in list_nodes() if node["Alive"]]
    own = [(node["NodeManagerAddress"], int(node["Resources"].get("CPU", 0))) for node in alive]
    has = ", ".join(f"{address} ({many(number, 'CPU')})" for address, number in own)
    room = f"{many(nodes, 'node')} with {many(cpus, 'free CPU')} each"
    return f"the cluster has no room for {room}; it has {has or 'no node'}"


def list_nodes() -> list[dict[str, Any]]:
    """All nodes that the head knows."""
    nodes: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    return nodes


def call(actors: list[Any], request: Mapping[str, Any], rows: Rows) -> None:
    """Call an actor's method; a thread waits for the answer."""
    reference = ray.put(request["argument"])  # in a list, or Ray would pass what it refers to
    answer = getattr(actors[request["node"]], request["method"]).remote([reference])

    def wait() -> None:
        try:
            rows.say(answer=request["call"], value=ray.get(answer))
        except RayError as error:
            rows.say(answer=request["call"], error=first_sentence(error))

    threading.Thread(target=wait, daemon=True).start()


def watch_actor(number: int, actor: Any, rows: Rows) -> None:
    try:
        ray.get(actor.stay.remote([]))
    except RayActorError as error:
        rows.say(died=number, why=describe_death(error))
    except RayError:
        return  # it was told otherwise that the cluster is lost


def describe_death(error: RayActorError) -> str:
    """In a few words; Ray's own are about the call that did not return."""
    if isinstance(error, ActorUnavailableError):
        return "Ray does not reach its actor there any more"
    return "its node has died" if "its node has died" in str(error) else "its Ray actor has died"


def watch_head(rows: Rows) -> None:
    """Ask the head again and again whether it is there."""
    answered = threading.Event()

    def ask() -> None:
        list_nodes()
        answered.set()

    while True:
        answered.clear()
        threading.Thread(target=ask, daemon=True).start()
        if not answered.wait(HEAD_TIMEOUT):
            rows.say(lost=f"the head of the Ray cluster has not answered for {HEAD_TIMEOUT:g} s")
            return
        time.sleep(HEAD_EVERY)


def first_sentence(error: BaseException) -> str:
    """The first row of an error; of one that an actor raised, what the actor said."""
    own = getattr(error, "cause", None) or error
    rows = [row.strip() for row in str(own).splitlines() if row.strip()]
    return rows[0] if rows else type(own).__name__


if __name__ == "__main__":
    main()
