"""The sentence on two saturation points, one by the response and one by the meters, that disagree.

`cuesta.analysis.predict.saturation` finds them, with their bands.
"""

from cuesta.analysis.capacity.findings import Conflicting
from cuesta.units import digits

UNMETERED = ("the driver", "what stands between it and the host, such as a terminal server")
"""What is suspected where the meters of the host are all that there is."""


def saturation_conflict(response: float, resource: str, meter: float, unit: str = "users") -> Conflicting:
    """Say that a station saturates at the load `response`, and the metered `resource` at `meter`, both in `unit`."""
    said = f"the response says that a station saturates at {digits(response)} {unit}"
    metered = f"{resource} says {digits(meter)}"
    if response < meter:
        return Conflicting(f"{said}, {metered}: the station that limits it is not metered", UNMETERED)
    return Conflicting(f"{said}, but {metered}: that meter has other work too", [f"whose work {resource} does"])
