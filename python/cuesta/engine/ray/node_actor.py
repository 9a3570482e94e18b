"""The actor of a node: it starts agents there. Its class is sent to the nodes as it stands here, because a node may
lack Cuesta; so it imports Cuesta only where it is used.

Each argument is a list with a reference to an object: Ray writes arguments into logs and shows them, but not what is
referred to.
"""

import os
import platform
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import ray

RAYLET_EVERY = 0.5
"""Seconds between looks whether the raylet is there: Ray itself ends an actor only when its call has returned."""
ORPHAN_TIMEOUT = 30.0
"""Seconds after which an actor that has lost its engine ends, unless it was given a new agent."""
ByReference = Sequence["ray.ObjectRef[Any]"]


class NodeActor:
    """One a node. Ray calls it on several threads."""

    def __init__(self) -> None:
        self.ends: dict[int, Any] = {}
        """The node's ends of agents, by number."""
        self.serving: list[threading.Thread] = []
        """A thread for each agent that was started."""
        self.lost_at: float | None = None
        """When the connection of an agent to the engine was lost, if none was started since."""

    def describe(self, _: ByReference) -> dict[str, Any]:
        """What the node is called, and which Cuesta it has, None if none."""
        address = ray.util.get_node_ip_address()  # type: ignore[no-untyped-call]
        about = {"host": platform.node(), "address": address, "version": None, "machine": {}}
        try:
            from cuesta import __version__, machine  # noqa: PLC0415
        except ImportError:
            return about
        return {**about, "version": __version__, "machine": machine.facts()}

    def check(self, argument: ByReference) -> list[dict[str, Any]]:
        """What the node lacks of what it needs."""
        from cuesta.engine.local.node_check import find_lacks  # noqa: PLC0415
        from cuesta.engine.node_needs import NodeNeeds  # noqa: PLC0415

        return [lack.as_row() for lack in find_lacks(NodeNeeds.from_row(ray.get(argument[0])), Path.home())]

    def start(self, argument: ByReference) -> None:
        """Start an agent, and connect it to the engine."""
        about, has_connected, failure = ray.get(argument[0]), threading.Event(), list[str]()
        number, self.lost_at = about["agent"], None

        def serve() -> None:
            from cuesta.engine.remote.node_end import join_engine  # noqa: PLC0415

            take_priority_of_raylet()
            try:
                with join_engine(tuple(about["engine"]), about["token"], number) as end:
                    self.ends[number] = end
                    has_connected.set()
                    end.serve()
            except Exception as error:
                failure.append(f"{type(error).__name__}: {error}")
                self.lost_at = time.monotonic()
            finally:
                self.ends.pop(number, None)
                has_connected.set()

        thread = threading.Thread(target=serve, daemon=True)
        self.serving.append(thread)
        thread.start()
        has_connected.wait()
        if failure:
            raise RuntimeError(failure[0])

    def order(self, argument: ByReference) -> None:
        """Give an agent its order."""
        order = ray.get(argument[0])
        self.ends[order["agent"]].tell(order["row"])

    def finish(self, _: ByReference) -> None:
        """Return when no agent is left, nor the folder where it recorded."""
        for thread in self.serving:
            thread.join()

    def stay(self, _: ByReference) -> None:
        """Never return: who waits for this learns when the actor has died.

        It dies with the raylet that started it, and some time after the engine was lost.
        """
        raylet = os.getppid()
        while os.getppid() == raylet and not self.is_orphan():
            time.sleep(RAYLET_EVERY)
        os._exit(1)  # agents end with their pipes

    def is_orphan(self) -> bool:
        """Whether the engine was lost, and has not come back with another run."""
        return self.lost_at is not None and not self.ends and time.monotonic() - self.lost_at > ORPHAN_TIMEOUT


def take_priority_of_raylet() -> None:
    """Give this thread, and agents that it starts, the priority of the raylet. Ray starts actors 15 steps of nice below
    it, so that agents would wait for every other process of the node. Without root this only works if its limits allow
    it: `RAY_worker_niceness=0` where the node is started does the same.
    """
    with suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, os.getppid()))
