"""Where the two sides of a run are: on which CPUs, and in which network."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cuesta.engine import preflight
from cuesta.engine.isolation import NetNs, NetNsPair, linked_namespaces
from cuesta.engine.job import Job
from cuesta.target import LISTEN


@dataclass(frozen=True, slots=True)
class Placement:
    """CPUs and networks of the driver and of the built-in host; None where nothing was said."""

    driver_cpus: list[int] | None = None
    host_cpus: list[int] | None = None
    sides: NetNsPair | None = None

    @property
    def listen(self) -> str:
        """Where the built-in host is to listen."""
        return f"telnet://{self.sides.host.address}:0" if self.sides else LISTEN

    @property
    def allow(self) -> list[str]:
        """Where the built-in host takes lines from; empty = from anywhere that reaches it, which is this machine."""
        return [self.sides.driver.address] if self.sides else []

    @property
    def driver_prefix(self) -> Sequence[str]:
        """Words before an agent's command."""
        return self.sides.driver.command_prefix if self.sides else ()

    @property
    def host_prefix(self) -> Sequence[str]:
        """Words before the host's command."""
        return self.sides.host.command_prefix if self.sides else ()

    def described(self) -> dict[str, object] | None:
        """Describe it for `run.json`."""
        if self.driver_cpus is None:
            return None
        driver, host = (self.sides.driver, self.sides.host) if self.sides else (None, None)
        return {"driver": _side(self.driver_cpus, driver), "host": _side(self.host_cpus, host)}


@contextmanager
def place(job: Job) -> Iterator[Placement]:
    """Place both sides as the plan says, while the block runs."""
    settings = job.plan.settings
    if not (settings.pin or settings.isolate):
        yield Placement()
        return
    driver, host = preflight.divide_cpus(settings.agents * settings.threads, settings.host.threads)
    if not settings.isolate:
        yield Placement(driver, host)
        return
    with linked_namespaces(driver, host) as sides:
        yield Placement(driver, host, sides)


def _side(cpus: list[int] | None, side: NetNs | None) -> dict[str, object]:
    network = {"namespace": side.namespace, "address": side.address, "receiving": list(side.cpus)} if side else None
    return {"cpus": cpus, "network": network}
