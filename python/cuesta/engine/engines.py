"""The engines that there are. One over many machines (Ray) has its place beside `LOCAL`; it implements `ports`."""

from cuesta.engine.local.local_engine import LocalEngine
from cuesta.engine.ports import Engine

LOCAL: Engine = LocalEngine()
