"""The CPUs and the network of each side of a run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from cuesta.engine.job import Job
from cuesta.engine.local import preflight
from cuesta.engine.local.meter_source import is_here
from cuesta.engine.local.network.isolation import NetNs, NetNsPair, link_namespaces
from cuesta.engine.local.network.wire import Recording, shape_traffic
from cuesta.engine.sharing import share_groups
from cuesta.line_kinds import OWN_PROGRAMS
from cuesta.plan import Service, Settings
from cuesta.target import BUILTIN_HOST, LOOPBACK, kind_of


@dataclass(frozen=True, slots=True)
class Placement:
    """CPUs and networks of the driver and of the built-in host; None if the plan sets none."""

    driver_cpus: list[int] | None = None
    host_cpus: list[int] | None = None
    sides: NetNsPair | None = None
    address: str = LOOPBACK
    """Where the built-in host listens, unless it has a network of its own."""
    nodes: Sequence[str] = ()
    """Addresses from which agents on other machines come; none if all are on this one."""

    def listen(self, service: Service, line_speed: int | None) -> str:
        """Where the built-in host listens for lines of this speed."""
        return service.listen_at(self.sides.host.address if self.sides else self.address, line_speed)

    @property
    def is_apart(self) -> bool:
        """Whether the driver is on other machines."""
        return bool(self.nodes) and not any(map(is_here, self.nodes))

    @property
    def allow(self) -> list[str]:
        """The addresses from which the built-in host accepts lines; empty = all of this machine."""
        return [self.sides.driver.address] if self.sides else [*self.nodes]

    @property
    def driver_prefix(self) -> Sequence[str]:
        """The prefix of an agent's command."""
        return self.sides.driver.command_prefix if self.sides else ()

    @property
    def host_prefix(self) -> Sequence[str]:
        """The prefix of the host's command."""
        return self.sides.host.command_prefix if self.sides else ()

    @contextmanager
    def shape_traffic(self, settings: Settings) -> Iterator[Recording | None]:
        """Apply a segment's `tmux` and `defer` to the wire during the block; yields its recording, if there is one."""
        if self.sides is None:
            yield None
            return
        with shape_traffic(settings, self.sides) as recording:
            yield recording

    def describe(self) -> dict[str, object] | None:
        """Describe it for `run.json`."""
        if self.driver_cpus is None:
            return None
        driver, host = (self.sides.driver, self.sides.host) if self.sides else (None, None)
        return {"driver": _side(self.driver_cpus, driver), "host": _side(self.host_cpus, host)}


def may_spin(targets: set[str], has_own_cpus: bool) -> bool:
    """Whether threads that spin take no CPU time from the host: they have CPUs of their own, or it is elsewhere."""
    if any(kind_of(target) in OWN_PROGRAMS for target in targets):
        return False
    return has_own_cpus or not any(
        target == BUILTIN_HOST or is_here(urlsplit(target).hostname or "") for target in targets
    )


@contextmanager
def place(job: Job) -> Iterator[Placement]:
    """Place both sides as the plan says, while the block runs."""
    settings = job.plan.settings
    if not (settings.pin or settings.isolate):
        yield Placement()
        return
    driver, host = preflight.divide_cpus(share_groups(settings).agents * settings.threads, settings.host.threads)
    if not settings.isolate:
        yield Placement(driver, host)
        return
    with link_namespaces(driver, host) as sides:
        yield Placement(driver, host, sides)


def _side(cpus: list[int] | None, side: NetNs | None) -> dict[str, object]:
    network = {"namespace": side.namespace, "address": side.address, "receiving": list(side.cpus)} if side else None
    return {"cpus": cpus, "network": network}
