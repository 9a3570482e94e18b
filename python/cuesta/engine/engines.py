"""The engines that there are, and which one a plan asks for. Each implements `ports`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cuesta.engine.local.local_engine import LocalEngine
from cuesta.engine.ports import Engine
from cuesta.plan import Settings

LOCAL: Engine = LocalEngine()


@contextmanager
def open_engine(settings: Settings, tell: Callable[[str], None]) -> Iterator[Engine]:
    """Have the engine of a plan, with its nodes, during the block. Raises CuestaError if they cannot be had.

    `tell` receives sentences on the nodes, where having them takes a while.
    """
    match settings.engine.kind:
        case "local":
            yield LOCAL
        case "ray":
            from cuesta.engine.ray.ray_engine import open_cluster  # noqa: PLC0415, few runs need it

            with open_cluster(settings, tell) as engine:
                yield engine
        case "ssh":
            from cuesta.engine.ssh_nodes.ssh_engine import open_machines  # noqa: PLC0415, few runs need it

            with open_machines(settings) as engine:
                yield engine
