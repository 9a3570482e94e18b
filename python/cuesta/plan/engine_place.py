"""Where the users of a run are, as a plan writes it: this machine, a Ray cluster, or machines reached by ssh."""

import re
from dataclasses import dataclass
from typing import Literal

from cuesta.plan.reading import read_text, refuse

RAY_ADDRESS = re.compile(r"auto|[\w.-]+:\d{1,5}|\[[0-9a-fA-F:]+\]:\d{1,5}")
"""What `ray start` prints as the cluster's address; `auto` is the cluster that runs on this machine."""
DESTINATION = re.compile(r"([\w.-]+@)?[\w][\w.-]*")
"""A machine, as `ssh` is told."""


@dataclass(frozen=True, slots=True)
class EnginePlace:
    """The kind of engine, and the addresses that it is told."""

    kind: Literal["local", "ray", "ssh"]
    addresses: tuple[str, ...] = ()
    """Of a Ray cluster, none if it is to be started; of machines reached by ssh."""

    @staticmethod
    def read(value: object) -> "EnginePlace":
        """Read `local`, `ray`, `ray:10.0.0.1:6379` or `ssh:me@driver1,me@driver2`."""
        kind, colon, rest = read_text(value).partition(":")
        match kind, rest:
            case (("local" | "ray"), "") if not colon:
                return EnginePlace(kind)
            case "ray", _ if RAY_ADDRESS.fullmatch(rest):
                return EnginePlace("ray", (rest,))
            case "ray", _ if rest.startswith("//"):
                return refuse("ray:// is for clients outside a cluster: start cuesta on a machine of it, with ray:auto")
            case "ssh", _ if all(map(DESTINATION.fullmatch, destinations := rest.split(","))):
                if len({*destinations}) < len(destinations):
                    return refuse("a machine is named twice: `agents` or `threads` use more of its CPUs")
                return EnginePlace("ssh", tuple(destinations))
            case _:
                return refuse("it is none of these")

    def __str__(self) -> str:
        return ":".join((self.kind, *([",".join(self.addresses)] if self.addresses else [])))
