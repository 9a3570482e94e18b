"""expect: one process for each user, as its scripts are run. It times nothing; the script notes its own times."""

from peers.job import PROGRAMS, Job, Told, output_of
from peers.tools.notes import told_by


class Expect:
    name = "expect"
    purpose = "automation and tests of programs at a terminal; not load"

    def version(self) -> str:
        return output_of("expect", "-v")

    def command(self, job: Job) -> list[str]:
        arguments = [f"{job.ramp + job.seconds:.0f}", f"{job.pause:g}", job.work.value, *job.host.way]
        return ["bash", str(PROGRAMS / "expect_users"), str(job.users), str(job.folder), *arguments]

    def read_figures(self, job: Job) -> Told:
        return told_by(job.folder)
