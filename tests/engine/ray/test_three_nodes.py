"""Three nodes of a Ray cluster: the main job, a search, a barrier by the host's own log, and where secrets are not."""

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from cuesta.ledger import open_run
from tests.engine.due_times import due_after_start
from tests.engine.ray.site import Site, kill, open_site
from tests.machines import Machine

pytestmark = pytest.mark.nightly
LOGS_ARRIVALS = Path(__file__).parents[2] / "hosts" / "logs_arrivals.py"
LOG_PORT = 2400
MEETING = """
Set Echo off
Set TypingSpeed 0ms
Forever
  Barrier "all are in"
  Transaction "row"
    Type "${letter}" Enter
    Wait+Bytes 20
  End
End
"""
LOGIN = """
Set Echo off
Forever
  Transaction "log in"
    Type "${user} ${password}" Enter
    Wait+Bytes 150
  End
End
"""
LETTERS = "abc"
"""Users of each agent type one of them."""
HOST_OWN = 1_000_000
"""Nanoseconds by which the first key of an agent may be logged late, at the least."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_site(tmp_path_factory.mktemp("site"), 3) as site:
        yield site


def test_the_main_job_does_on_three_nodes_what_it_does_on_one(site: Site) -> None:
    folders = site.new_folder(), site.new_folder()
    load = ["--tape", "builtin:interactive", "--users", "96", "--load", "closed", "--measure", "20s"]
    for folder, flags in zip(folders, ([], site.on_nodes), strict=True):
        done = site.run("run", folder, *load, *flags)
        assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    one, three = (due_after_start(open_run(folder)) for folder in folders)
    assert sorted(three) == sorted(one) == [*range(96)]
    counts = [sum(map(len, each.values())) for each in (one, three)]
    assert counts[1] == pytest.approx(counts[0], rel=0.05)


def test_a_search_finds_its_limit_on_three_nodes(site: Site) -> None:
    folder = site.new_folder()
    terms = ["--limit", "response.mean < 3s", "--most", "24", "--users", "6", "--settle", "1s", "--measure", "2s"]
    done = site.run("search", folder, *terms, "--load", "closed", "--think", "exp 500ms", *site.on_nodes)
    recorded = open_run(folder)
    assert len(recorded.steps) >= 2, done.stderr
    assert done.returncode == Exit.REFUSED, "no limit up to the most that may be tried"
    steps = [agent.steps for agent in recorded.agents]
    assert steps[0] == steps[1] == steps[2], "each agent measures from and to the same instants"


@contextmanager
def logging_host(site: Site) -> Iterator[Path]:
    """A host that logs when each key arrives; yields its log."""
    log = site.new_folder() / "arrivals.log"
    command = [sys.executable, str(LOGS_ARRIVALS), site.host.address, str(LOG_PORT), str(log)]
    with site.host.start(command, stdout=subprocess.PIPE) as host:
        try:
            assert host.stdout
            assert host.stdout.readline() == "listens\n"
            yield log
        finally:
            kill("logs_arrivals", site.host)


def test_a_barrier_of_thirty_users_opens_within_its_bound_by_the_hosts_log(site: Site) -> None:
    folder = site.new_folder()
    (site.here / "meeting.tape").write_text(MEETING)
    (site.here / "letters.csv").write_text("\n".join(["letter", *LETTERS * 10]) + "\n")
    with logging_host(site) as log:
        target = ["--target", f"tcp://{site.host.address}:{LOG_PORT}", "--users", "30", "--load", "closed"]
        done = site.run("run", folder, "--tape", "meeting.tape", "--data", "letters.csv", *target, *site.on_nodes)
    assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    due = due_after_start(open_run(folder))
    assert len(due) == 30
    meetings = due[0][: min(map(len, due.values()))]
    assert len(meetings) >= 5
    assert all(instants[: len(meetings)] == meetings for instants in due.values())
    bound = sum(sorted(agent.notes.readings[0].error for agent in open_run(folder).agents)[-2:])
    first = [min(lateness(log, letter, meetings)) for letter in LETTERS]
    assert max(first) - min(first) <= bound + HOST_OWN, "by the host's clock"


def lateness(log: Path, letter: str, meetings: Sequence[int]) -> Iterator[int]:
    """How late the first key of an agent was in each meeting: nanoseconds on the host's clock, from one instant on."""
    arrivals = defaultdict[str, list[int]](list)
    for row in log.read_text().splitlines():
        connection, typed, at = row.split()
        if typed == repr(letter):
            arrivals[connection].append(int(at))
    assert len(arrivals) == 10
    for number, due in enumerate(meetings):
        yield min(each[number] for each in arrivals.values()) - due


def test_no_secret_is_in_a_log_a_command_or_a_folder(site: Site) -> None:
    folder, secret = site.new_folder(), "xQ7vSecretWord"
    (site.here / "users.csv").write_text("user,password\n" + "".join(f"ann{n},{secret}{n}\n" for n in range(2000)))
    (site.here / "login.tape").write_text(LOGIN)
    flags = ["--tape", "login.tape", "--data", "users.csv", "--users", "6", "--load", "closed", *site.on_nodes]
    running = site.start(folder, *flags, "--measure", "8s")
    shown = [name for name in list_environments(site.head, *site.nodes) if secret in name]
    out, said = running.communicate(timeout=60)
    assert running.returncode == Exit.GOOD, said
    assert shown == []
    assert secret not in out + said
    known = {site.here / "users.csv"}
    read = 0
    for machine in (site.head, *site.nodes):
        root = Path(f"/proc/{machine.first}/root")
        for path in (path for path in (root / "tmp").rglob("*") if path.is_file() and not path.is_symlink()):
            if Path("/", path.relative_to(root)) not in known:
                read += 1
                assert secret.encode() not in path.read_bytes(), path
    assert read > 50, "Ray's session folders were read"


def list_environments(*nodes: Machine) -> Iterator[str]:
    """The commands and environments of all processes on some machines."""
    for node in nodes:
        for pid, command in node.processes().items():
            yield command
            try:
                yield Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace")
            except OSError:
                continue
