"""The specifications that the Rust half receives as JSON. Durations are whole nanoseconds, distributions are text."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cuesta._native import show_duration
from cuesta.engine.job import DRAIN, Job
from cuesta.plan import Group, Host, Load, Segment, Service, Settings
from cuesta.plan.fields import ALWAYS, PER_STEP, DriverSetting
from cuesta.plan.schema import driver_settings
from cuesta.target import BUILTIN_HOST


def run_spec(job: Job, segment: Segment, host: str | None, cpus: list[int] | None) -> dict[str, Any]:
    """The specification that all agents share; `host` is the built-in host's address."""
    settings = segment.steps[0].settings
    return {
        **_values(settings, ALWAYS),
        "cpus": cpus,
        "drain": DRAIN,
        "groups": [_group(job, group, host) for group in settings.group],
        "steps": [_step(step.settings) for step in segment.steps],
    }


def _group(job: Job, group: Group, host: str | None) -> dict[str, Any]:
    return {
        "name": group.name,
        "script": job.tape(group).name,
        "target": host if group.target == BUILTIN_HOST else group.target,
        **_values(group, ALWAYS),
        "data": list(job.users_of(group).rows),
        "secret": job.users_of(group).secret,
    }


def _step(settings: Settings) -> dict[str, Any]:
    return {"settle": settings.settle, "measure": settings.measure, "groups": loads(settings)}


def loads(settings: Settings) -> list[dict[str, Any]]:
    """What each group does in a step."""
    return [{**_values(group, PER_STEP), "load": _load(group.load)} for group in settings.group]


def _values(table: Group | Settings, driver: DriverSetting) -> dict[str, Any]:
    return {name: getattr(table, name) for name in driver_settings(type(table), driver)}


def _load(load: Load) -> dict[str, Any]:
    fields = {"closed": ["kind"], "paced": ["kind", "cycle"], "open": ["kind", "per_s", "arrivals"]}[load.kind]
    return {name: value for name, value in asdict(load).items() if name in fields}


def host_spec(host: Host, service: Service, listen: list[str], more: Mapping[str, object]) -> dict[str, Any]:
    """The built-in host's specification; `more` has `seed`, `cpus`, the folder of `meters`, and `allow`."""
    spec = host.model_dump(mode="json", exclude={"service", "stall"})
    stall = host.stall and {"at": show_duration(host.stall.at), "for": show_duration(host.stall.length)}
    return {**spec, "service": service.spec(), "stall": stall, "listen": listen, **more}
