"""The specifications that the Rust half receives as JSON. Durations are whole nanoseconds, distributions are text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cuesta._native import show_duration
from cuesta.engine.job import DRAIN, Job
from cuesta.engine.sharing import share_groups
from cuesta.plan import Group, Host, Segment, Service, Settings
from cuesta.plan.driver import driver_loads, driver_values
from cuesta.plan.fields import ALWAYS
from cuesta.plan.followed_users import count_off
from cuesta.records.messages import GroupSpec, RunSpec, StepSpec
from cuesta.target import BUILTIN_HOST


@dataclass(frozen=True, slots=True)
class Threads:
    """How the threads of agents may run."""

    cpus: list[int] | None = None
    """Their CPUs; None if they are not pinned."""
    may_spin: bool = False
    """Whether threads that spin take no CPU time from the host."""
    priority: bool = False
    """Whether they go before other programs: a neighbour, or sessions in the background, compete for their CPUs."""


@dataclass(frozen=True, slots=True)
class AddedSteps:
    """Steps may be added to a segment while it goes on."""

    most: Sequence[int]
    """The most users that each group may have in any of them."""
    by_cut: bool = False
    """Whether its own step has its planned times, and is cut if another one is to follow."""


def run_spec(
    job: Job, segment: Segment, host: str | None, threads: Threads, added: AddedSteps | None = None
) -> RunSpec:
    """The specification that all agents share.

    `host` is the built-in host's address; `added` says that steps may be added, and of how many users.
    """
    settings = segment.steps[0].settings
    users = (
        added.most
        if added
        else [max(step.settings.group[at].users for step in segment.steps) for at in range(len(settings.group))]
    )
    sharing = share_groups(settings)
    return RunSpec(
        **{**driver_values(settings, ALWAYS), "spin": settings.spin and threads.may_spin},
        agents=sharing.agents,
        cpus=threads.cpus,
        priority=threads.priority,
        drain=DRAIN,
        groups=[
            replace(
                _group(job, group, host, count),
                first_agent=agents.start,
                agents=len(agents),
                path=count_off(settings.path, group.name, bool(group.background)),
            )
            for group, count, agents in zip(settings.group, users, sharing.players, strict=True)
        ],
        steps=[_step(step.settings) for step in segment.steps],
        most_users=added.most if added else None,
        may_be_cut=bool(added and added.by_cut),
    )


def _group(job: Job, group: Group, host: str | None, users: int) -> GroupSpec:
    return GroupSpec(
        name=group.name,
        script=job.tape(group).name,
        target=host if host and group.target == BUILTIN_HOST else group.target,
        **driver_values(group, ALWAYS),
        data=job.users_of(group).first(users),
        secret=job.users_of(group).secret,
    )


def _step(settings: Settings) -> StepSpec:
    return StepSpec(settle=settings.settle, measure=settings.measure, groups=driver_loads(settings))


def host_spec(host: Host, service: Service, listen: list[str], more: Mapping[str, object]) -> dict[str, Any]:
    """The built-in host's specification; `more` has `seed`, `cpus`, the folder of `meters`, and `allow`."""
    spec = host.model_dump(mode="json", exclude={"service", "stall"})
    stall = host.stall and {"at": show_duration(host.stall.at), "for": show_duration(host.stall.length)}
    return {**spec, "service": service.spec(), "stall": stall, "listen": listen, **more}
