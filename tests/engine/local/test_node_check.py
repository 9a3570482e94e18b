import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from cuesta.engine.local.node_check import check_processes, check_ptys, count_lines, find_lacks, raise_files
from cuesta.engine.node_needs import NodeNeeds, TargetNeeds
from cuesta.errors import CuestaError

NOTHING = NodeNeeds(1, 1, 0, 0, 0, (), {})


def test_too_few_descriptors_are_refused_with_the_number_needed() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with pytest.raises(CuestaError, match=f"needs {hard + 1} file descriptors .* is {hard}") as raised:
        raise_files(hard + 1)
    assert raised.value.remedy is not None
    assert f"ulimit -Hn {hard + 1}" in raised.value.remedy


def test_descriptors_that_are_only_wanted_are_had_as_far_as_they_may_be() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        for wanted, had in ((120, 120), (90, 120), (hard + 1, hard)):
            if wanted == 120:
                resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
            raise_files(80, wanted)
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (had, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_the_soft_limit_is_raised_when_it_may_be() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard - 1, hard))
    try:
        raise_files(hard)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_pseudo_terminals_must_be_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuesta.engine.local.node_check.PTYS", tmp_path)
    check_ptys(10**9)  # a kernel that says nothing
    (tmp_path / "max").write_text("4096\n")
    (tmp_path / "nr").write_text("96\n")
    check_ptys(4000)
    with pytest.raises(CuestaError, match="needs 4001 pseudo-terminals, and 4000 of 4096 are free") as raised:
        check_ptys(4001)
    assert raised.value.remedy == "raise it as root with `sysctl kernel.pty.max=4097`"


def test_the_limit_of_processes_is_per_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("resource.getrlimit", lambda _: (100, 200))
    monkeypatch.setattr("os.geteuid", lambda: 0)
    check_processes(101)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    check_processes(100)
    with pytest.raises(CuestaError, match=r"starts 101 programs, .* \(ulimit -u\) is 100"):
        check_processes(101)


def test_a_control_group_limits_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cuesta.engine.local.node_check.list_groups", lambda _: [tmp_path])
    (tmp_path / "pids.max").write_text("max\n")
    (tmp_path / "pids.current").write_text("30\n")
    check_processes(10**9)
    (tmp_path / "pids.max").write_text("100\n")
    check_processes(70)
    with pytest.raises(CuestaError, match=r"starts 71 programs, and its control group may have 70 more \(pids.max\)"):
        check_processes(71)


def test_a_node_tells_everything_that_it_lacks(here: Path) -> None:
    assert find_lacks(NOTHING, here) == []
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    targets = [TargetNeeds("pty:no-such-program", 1, {}), TargetNeeds("tcp://no-such-host.invalid:1", 1, {})]
    lacking = replace(
        NOTHING,
        descriptors=hard + 1,
        terminals=10**9,
        memory=sys.maxsize,
        targets=targets,
        passphrases={"no-such-key": "sesame"},
    )
    told = [lack.what for lack in find_lacks(lacking, here)]
    words = ("file descriptors", "pseudo-terminals", "of memory", "no-such-key", "`no-such-program`", "no-such-host")
    assert len(told) == len(words)
    assert all(word in what for word, what in zip(words, told, strict=True))
    assert "sesame" not in repr(lacking) + " ".join(told)


def test_lines_to_one_address_are_counted_together() -> None:
    users = {"user": "ann"}
    targets = [
        TargetNeeds("tcp://127.0.0.1:9", 20, users),
        TargetNeeds("telnet://127.0.0.1:9", 5, users),
        TargetNeeds("tcp://127.0.0.1:10", 1, users),
        TargetNeeds("pty:cat", 9, users),
        TargetNeeds("host:", 7, users),
    ]
    assert list(count_lines(targets)) == [
        (25, "tcp://127.0.0.1:9, telnet://127.0.0.1:9", frozenset({("127.0.0.1", 9)})),
        (1, "tcp://127.0.0.1:10", frozenset({("127.0.0.1", 10)})),
        (7, "the built-in host", frozenset()),
    ]


def test_a_node_loads_no_plan() -> None:
    """An agent's node needs only what it is sent; plans take a second to load on a busy machine."""
    script = (
        "import sys, cuesta.engine.local.node_check; print([name for name in sys.modules if 'cuesta.plan' in name])"
    )
    with os.popen(f'{sys.executable} -c "{script}"') as ran:
        assert ran.read().strip() == "[]"


@pytest.mark.parametrize(("passphrase", "lacks"), [("right", 0), ("wrong", 1)])
def test_a_passphrase_must_open_the_key_file_that_is_here(tmp_path: Path, passphrase: str, lacks: int) -> None:
    key = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "right", "-f", key], check=True)
    found = find_lacks(replace(NOTHING, passphrases={str(key): passphrase}))
    assert [each.what for each in found] == [f"{key}: the passphrase that was given does not open it"] * lacks
