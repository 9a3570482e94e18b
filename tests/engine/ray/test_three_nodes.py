"""Three nodes of a Ray cluster: a search, a barrier by the host's own log, secrets, and every way to lose a node."""

import re
import signal
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cuesta.errors import Exit
from cuesta.ledger import Recorded, open_run
from tests.engine.due_times import due_after_start
from tests.engine.ray.site import Site, commands_of, kill, open_site, wait_until
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
    Type "a" Enter
    Wait+Bytes 20
  End
End
"""
LOGIN = """
Set Echo off
Forever
  Transaction "log in"
    Type "${user} ${password}" Enter
    Wait+Bytes 20
  End
End
"""
HOST_OWN = 2_000_000
"""Nanoseconds that the logging host may take for the 30 keys that arrive at once."""


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
    assert {user: instants[:1] for user, instants in three.items()} == {user: one[user][:1] for user in three}
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
    with logging_host(site) as log:
        target = ["--target", f"tcp://{site.host.address}:{LOG_PORT}", "--users", "30", "--load", "closed"]
        done = site.run("run", folder, "--tape", "meeting.tape", *target, *site.on_nodes)
    assert done.returncode == Exit.GOOD, done.stdout + done.stderr
    due = due_after_start(open_run(folder))
    assert len(due) == 30
    meetings = min(map(len, due.values()))
    assert meetings >= 5
    assert all(instants[:meetings] == due[0][:meetings] for instants in due.values())
    bound = sum(sorted(agent.notes.readings[0].error for agent in open_run(folder).agents)[-2:])
    spread = statistics.median(spreads(log, meetings))
    assert spread <= bound + HOST_OWN, "in true time, by one clock"


def spreads(log: Path, meetings: int) -> Iterator[int]:
    """For each meeting, the nanoseconds from the first key to the last one."""
    arrivals = defaultdict[str, list[int]](list)
    for row in log.read_text().splitlines():
        connection, letter, at = row.split()
        if letter == "'a'":
            arrivals[connection].append(int(at))
    assert len([each for each in arrivals.values() if len(each) >= meetings]) == 30
    for number in range(meetings):
        together = [each[number] for each in arrivals.values() if len(each) >= meetings]
        yield max(together) - min(together)


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


def stop_for_two_seconds(word: str) -> Callable[[Site, Machine], None]:
    def stop(site: Site, node: Machine) -> None:
        kill(word, node, signal.SIGSTOP)
        signal.sigtimedwait([], 2)
        kill(word, node, signal.SIGCONT)

    return stop


LOSSES: dict[str, tuple[Callable[[Site, Machine], None], str]] = {
    "agent": (lambda _, node: kill("agent_process", node), r"agent \d on NODE: it was killed by signal 9"),
    "raylet": (lambda _, node: kill("raylet/raylet", node), r"agent \d on NODE: it lost its connection"),
    "agent stopped": (stop_for_two_seconds("agent_process"), r"agent \d on NODE: it said nothing for [12]\.\d s"),
    "node stopped": (stop_for_two_seconds(""), r"agent \d on NODE: it said nothing for [12]\.\d s"),
    "link cut": (lambda _, node: node.cut(), r"agent \d on NODE: it said nothing for [1-5]\.\d s"),
    "head": (
        lambda site, _: kill("gcs_server", site.head),
        r"agent \d on NODE: it was given up: the head of the Ray cluster has not answered",
    ),
}
ENDING = 100
"""Seconds in which Ray's own processes on a node end when its head is dead."""


@pytest.mark.parametrize("loss", LOSSES)
def test_a_lost_node_ends_the_run_by_its_name_and_no_process_is_left(tmp_path: Path, loss: str) -> None:
    lose, says = LOSSES[loss]
    with open_site(tmp_path, 3) as site:
        folder, node = site.new_folder(), site.nodes[1]
        running = site.start(folder, "--measure", "500s", *site.on_nodes)
        lose(site, node)
        _, said = running.communicate(timeout=60)
        assert running.returncode == Exit.INVALID, said
        assert re.search(says.replace("NODE", re.escape(node.address)), said), said
        recorded = open_run(folder)
        check_records(recorded, node)
        wait_until(lambda: not commands_of("agent_process", *site.nodes))
        wait_until(lambda: not commands_of("NodeActor", *site.nodes), most=ENDING)
        assert not commands_of("cluster_process", site.head)


def check_records(recorded: Recorded, lost: Machine) -> None:
    """All agents have some seconds, of whole rows; those of the other nodes ended by themselves."""
    assert all(len([row for row in agent.intervals if row.length]) > 3 for agent in recorded.agents)
    assert not any("cut off" in each for each in recorded.damage)
    assert all(agent.ending for agent in recorded.agents if agent.notes.node != lost.address)
