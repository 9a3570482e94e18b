"""Where the two sides of a run are: on which CPUs, and in which network."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from cuesta.engine import preflight
from cuesta.engine.isolation import Side, Sides, isolated
from cuesta.engine.job import Job
from cuesta.engine.spec import LISTEN


@dataclass(frozen=True, slots=True)
class Placed:
    """CPUs and networks of the driver and of the built-in host; None where nothing was said."""

    driver_cpus: list[int] | None = None
    host_cpus: list[int] | None = None
    sides: Sides | None = None

    @property
    def listen(self) -> str:
        """Where the built-in host is to listen."""
        return f"telnet://{self.sides.host.address}:0" if self.sides else LISTEN

    @property
    def allow(self) -> list[str]:
        """Where the built-in host takes lines from; empty = from anywhere that reaches it, which is this machine."""
        return [self.sides.driver.address] if self.sides else []

    @property
    def entering_driver(self) -> Sequence[str]:
        """Words before an agent's command."""
        return self.sides.driver.entering if self.sides else ()

    @property
    def entering_host(self) -> Sequence[str]:
        """Words before the host's command."""
        return self.sides.host.entering if self.sides else ()

    def described(self) -> dict[str, object] | None:
        """Describe it for `run.json`."""
        if self.driver_cpus is None:
            return None
        driver, host = (self.sides.driver, self.sides.host) if self.sides else (None, None)
        return {"driver": _side(self.driver_cpus, driver), "host": _side(self.host_cpus, host)}


@contextmanager
def placed(job: Job) -> Iterator[Placed]:
    """Place both sides as the plan says, while the block runs."""
    settings = job.plan.settings
    if not (settings.pin or settings.isolate):
        yield Placed()
        return
    driver, host = preflight.divide_cpus(settings.agents * settings.threads, settings.host.threads)
    if not settings.isolate:
        yield Placed(driver, host)
        return
    with isolated(driver, host) as sides:
        yield Placed(driver, host, sides)


def _side(cpus: list[int] | None, side: Side | None) -> dict[str, object]:
    network = {"namespace": side.namespace, "address": side.address, "receiving": list(side.cpus)} if side else None
    return {"cpus": cpus, "network": network}
