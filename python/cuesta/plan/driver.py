"""The settings of a plan as the driver receives them: durations are whole nanoseconds, distributions are text."""

from typing import Any

from cuesta.plan.fields import PER_STEP, DriverSetting, Load
from cuesta.plan.schema import Group, Settings, driver_settings
from cuesta.records import messages
from cuesta.records.messages import LoadSpec


def driver_values(table: Group | Settings, driver: DriverSetting) -> dict[str, Any]:
    """The settings of a table that the driver receives always, or per step."""
    return {name: getattr(table, name) for name in driver_settings(type(table), driver)}


def driver_loads(settings: Settings) -> list[messages.Load]:
    """What each group does in a step."""
    return [messages.Load(**{**driver_values(group, PER_STEP), "load": _load(group.load)}) for group in settings.group]


def _load(load: Load) -> LoadSpec:
    names = {"closed": ["kind"], "paced": ["kind", "cycle"], "open": ["kind", "per_s", "arrivals"]}[load.kind]
    return LoadSpec(**{name: getattr(load, name) for name in names})
