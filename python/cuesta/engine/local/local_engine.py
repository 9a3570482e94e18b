"""This machine as an engine."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from cuesta import machine
from cuesta.engine.job import Job
from cuesta.engine.local import meter_source, preflight
from cuesta.engine.local.deployment import LocalDeployment, deploy_here
from cuesta.engine.local.placement import Placement, place
from cuesta.plan import Segment


@dataclass(frozen=True, slots=True)
class LocalNodes:
    """This machine, divided between driver and host if the plan says so."""

    about: machine.Facts
    placement: Placement

    def describe(self) -> Mapping[str, object]:
        return {"machine": self.about, "placed": self.placement.describe()}

    def deploy(self, job: Job, segment: Segment, folder: Path) -> AbstractContextManager[LocalDeployment]:
        return deploy_here(job, segment, folder, self.placement)


class LocalEngine:
    """Host, agents and meters are processes of this machine."""

    def check(self, job: Job) -> None:
        preflight.check(job)

    def why_untraced(self, meters: str) -> str | None:
        return meter_source.why_untraced(meters)

    @contextmanager
    def reserve(self, job: Job) -> Iterator[LocalNodes]:
        about = machine.facts()  # before the placement restricts this process to some CPUs
        with place(job) as placement:
            yield LocalNodes(about, placement)
