"""The engines that there are, and which one a plan asks for. Each implements `ports`."""

from collections.abc import Iterator
from contextlib import contextmanager

from cuesta.engine.local.local_engine import LocalEngine
from cuesta.engine.ports import Engine
from cuesta.errors import CuestaError
from cuesta.plan import Settings

LOCAL: Engine = LocalEngine()


@contextmanager
def open_engine(settings: Settings) -> Iterator[Engine]:
    """Have the engine of a plan, with its nodes, during the block. Raises CuestaError if they cannot be had."""
    if settings.engine.kind != "local":
        raise CuestaError(f"{settings.engine}: this engine follows")
    yield LOCAL
