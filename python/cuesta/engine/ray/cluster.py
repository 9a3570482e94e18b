"""A Ray cluster, as the engine sees it: it calls actors through `cluster_process`."""

import json
import os
import secrets
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from cuesta.engine.local.child_processes import read_errors
from cuesta.errors import CuestaError
from cuesta.module_command import module_command

OPEN_TIMEOUT = 120.0
"""Seconds within which the cluster must have been joined, or started, and its nodes described."""
ANSWER_TIMEOUT = 60.0
"""Seconds within which an actor must answer."""
END_TIMEOUT = 15.0
"""Seconds within which the cluster must have been left, or ended."""
NOT_INSTALLED = "No module named 'ray'"


@dataclass(slots=True)
class Answer:
    """What an actor answered."""

    arrived: threading.Event = field(default_factory=threading.Event)
    row: dict[str, Any] = field(default_factory=dict)


class RayCluster:
    """The nodes that were asked for. Several threads may call their actors."""

    def __init__(self, process: subprocess.Popen[bytes], errors: IO[bytes]) -> None:
        self._process, self._errors = process, errors
        self._lock = threading.Lock()
        self._answers: list[Answer] = []
        self._opened = Answer()
        self.names: Sequence[str] = ()
        """Of the nodes, for messages."""
        self.lost: str | None = None
        """Why the cluster cannot be relied on any more."""
        self._deaths: dict[int, str] = {}
        """Why actors died, by node."""
        self._death_noted = threading.Condition()
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def wait_for_end(self) -> None:
        """Wait until all that its process said is heard."""
        self._listener.join()

    def open(self, address: str | None, nodes: int, cpus: int) -> dict[str, Any]:
        """Reserve `nodes` nodes; returns the engine's `address` in the cluster, and the `nodes`. Raises CuestaError."""
        self._send({"address": address, "nodes": nodes, "cpus": cpus})
        if not self._opened.arrived.wait(OPEN_TIMEOUT):
            raise CuestaError(f"Ray: the cluster did not answer within {OPEN_TIMEOUT:g} s", "see `ray status` there")
        if opened := self._opened.row.get("opened"):
            return dict(opened)
        if NOT_INSTALLED in (why := str(self._opened.row.get("failed") or self.lost)):
            raise CuestaError("--engine ray: Ray is not installed here", 'pip install "cuesta[ray]"')
        raise CuestaError(f"Ray: {why}", "see `ray status` on a machine of the cluster")

    def call(self, nodes: Sequence[int], method: str, arguments: Sequence[object]) -> list[Any]:
        """Call a method of the actors of some nodes side by side, each with its argument. Raises CuestaError."""
        answers = [self._ask(node, method, argument) for node, argument in zip(nodes, arguments, strict=True)]
        return [self._value(each, node, method) for each, node in zip(answers, nodes, strict=True)]

    def why_died(self, node: int, timeout: float) -> str | None:
        """Why the actor of a node died; None if Ray does not say so within `timeout` seconds."""
        with self._death_noted:
            self._death_noted.wait_for(lambda: node in self._deaths, timeout)
            return self._deaths.get(node)

    def _ask(self, node: int, method: str, argument: object) -> Answer:
        answer = Answer()
        with self._lock:
            number = len(self._answers)
            self._answers.append(answer)
        if self.lost:
            answer.arrived.set()
        self._send({"call": number, "node": node, "method": method, "argument": argument})
        return answer

    def _value(self, answer: Answer, node: int, method: str) -> Any:
        if not answer.arrived.wait(ANSWER_TIMEOUT):
            raise CuestaError(f"{self.names[node]}: its Ray actor did not answer within {ANSWER_TIMEOUT:g} s")
        if "value" not in answer.row:
            raise CuestaError(f"{self.names[node]}: {method}: {answer.row.get('error') or self.lost}")
        return answer.row["value"]

    def _send(self, row: object) -> None:
        assert self._process.stdin is not None
        with self._lock, suppress(OSError, ValueError):
            self._process.stdin.write(json.dumps(row).encode() + b"\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for text in self._process.stdout:
            row: dict[str, Any] = json.loads(text)
            match row:
                case {"opened": _} | {"failed": _}:
                    self._take(self._opened, row)
                case {"answer": int(number)}:
                    self._take(self._answers[number], row)
                case {"died": int(node), "why": str(why)}:
                    with self._death_noted:
                        self._deaths[node] = why
                        self._death_noted.notify_all()
                case {"lost": str(why)}:
                    self.lost = why
        last = "".join(read_errors(self._errors).splitlines()[-1:])
        self.lost = self.lost or f"the process that had joined the cluster has ended: {last or 'it said nothing'}"
        for answer in (self._opened, *self._answers):
            answer.arrived.set()

    def _take(self, answer: Answer, row: dict[str, Any]) -> None:
        answer.row = row
        answer.arrived.set()


def environment_of_own(folder: Path) -> dict[str, str]:
    """The environment of a cluster that is started here, with its files in a folder.

    It is not the current cluster of this machine, which others may join; and who joins it must know its token.
    """
    (folder / "ray").mkdir()
    own = {"TMPDIR": str(folder), "AUTH_MODE": "token", "AUTH_TOKEN": secrets.token_hex(32)}
    quiet = {"USAGE_STATS_ENABLED": "0", "worker_niceness": "0"}
    return {**os.environ, **{f"RAY_{name}": value for name, value in {**own, **quiet}.items()}}


@contextmanager
def join_cluster(address: str | None, nodes: int, cpus: int) -> Iterator[tuple[RayCluster, dict[str, Any]]]:
    """Reserve `nodes` nodes of a cluster during the block; without an address, start one here.

    Yields it, with the engine's `address` in the cluster and the `nodes`. Raises CuestaError.
    """
    with (
        tempfile.TemporaryFile() as errors,
        tempfile.TemporaryDirectory(prefix="cuesta-ray-", ignore_cleanup_errors=True) as folder,
    ):
        process = subprocess.Popen(
            module_command("cuesta.engine.ray.cluster_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=None if address else environment_of_own(Path(folder)),
            start_new_session=True,  # so that Ctrl-C at the terminal reaches only the engine
        )
        cluster = RayCluster(process, errors)
        try:
            yield cluster, cluster.open(address, nodes, cpus)
        finally:
            with suppress(OSError):
                process.stdin.close() if process.stdin else None
            try:
                process.wait(0 if cluster.lost else END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()  # what it had started of Ray ends with it
                process.wait()
            cluster.wait_for_end()
