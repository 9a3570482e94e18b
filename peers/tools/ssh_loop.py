"""`ssh` in a loop of the shell, a loop for each user; with one connection for each answer, or one for each loop."""

from dataclasses import dataclass

from peers.job import PROGRAMS, Job, Told, output_of
from peers.tools.notes import told_by


@dataclass(frozen=True)
class SshLoop:
    shared: bool = False
    """Whether a loop keeps its connection (`ControlMaster`)."""

    @property
    def purpose(self) -> str:
        if self.shared:
            return "the same; each loop logs in once, and its sessions share that connection"
        return "nothing but `ssh`: what most people do when they want a number today"

    @property
    def name(self) -> str:
        return "ssh loop, ControlMaster" if self.shared else "ssh loop"

    def version(self) -> str:
        return output_of("ssh", "-V").split(",")[0]

    def command(self, job: Job) -> list[str]:
        times = [f"{job.ramp + job.seconds:.0f}", f"{job.pause:g}", "shared" if self.shared else "separate"]
        return ["bash", str(PROGRAMS / "ssh_loops"), str(job.users), str(job.folder), job.host.way[1], *times]

    def read_figures(self, job: Job) -> Told:
        return told_by(job.folder)
