from pathlib import Path

import pytest

from cuesta.engine.local.control_groups import list_groups
from cuesta.engine.local.free_memory import MARGIN, check_memory, measure_available
from cuesta.errors import CuestaError

GIB = 1 << 30


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A machine with 3 GiB of memory and 1 GiB of swap available."""
    (tmp_path / "self").mkdir()
    (tmp_path / "meminfo").write_text("MemTotal: 9999999 kB\nMemAvailable: 3145728 kB\nSwapFree: 1048576 kB\n")
    (tmp_path / "self/cgroup").write_text("0::/user/own\n")
    (tmp_path / "groups/user/own").mkdir(parents=True)
    return tmp_path


def available(machine: Path) -> tuple[int, str]:
    return min(measure_available(machine, machine / "groups"))


def limit(group: Path, **texts: str) -> None:
    group.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (group / name.replace("__", ".")).write_text(text)


def test_memory_and_swap_are_available(machine: Path) -> None:
    assert available(machine) == (4 * GIB, "here (MemAvailable)")


def test_the_lowest_limit_of_the_groups_above_counts_without_what_copies_files(machine: Path) -> None:
    own = machine / "groups/user/own"
    limit(own, memory__max="max\n", memory__current="5\n")
    assert available(machine) == (4 * GIB, "here (MemAvailable)")
    stat = "anon 1\ninactive_file 268435456\nactive_file 268435456\n"
    limit(own.parent, memory__max=f"{2 * GIB}\n", memory__current=f"{GIB}\n", memory__stat=stat)
    assert available(machine) == (GIB + GIB // 2, "in its control group (memory.max)")


def test_groups_of_version_1_count_too(machine: Path) -> None:
    (machine / "self/cgroup").write_text("5:cpu,memory:/own\n4:pids:/own\n0::/\n")
    own = machine / "groups/cpu,memory/own"
    limit(own, memory__limit_in_bytes=f"{GIB}\n", memory__usage_in_bytes="0\n")
    assert available(machine) == (GIB, "in its control group (memory.limit_in_bytes)")
    groups = list_groups("memory", machine, machine / "groups")
    assert [str(group.relative_to(machine)) for group in groups] == [
        "groups/cpu,memory/own",
        "groups/cpu,memory",
        "groups",
    ]


def test_a_run_is_refused_only_far_above_what_is_available(machine: Path) -> None:
    fitting = int(4 * GIB * MARGIN)
    check_memory(fitting, 1000, machine, machine / "groups")
    with pytest.raises(CuestaError, match=r"5\.0 GiB of memory for 1,000 users .* 4\.0 GiB are available here"):
        check_memory(fitting + 1, 1000, machine, machine / "groups")
    check_memory(10**18, 1000, machine / "none", machine / "none")
