"""Keys that come together, die, go two ways or leave by UDP: each path is right, or its key is counted without one."""

import json
import sys
from pathlib import Path

import pytest

from cuesta.errors import Exit
from tests.conftest import Write
from tests.daemons import busybox, needed, telnetd
from tests.own_network import own_network
from tests.path_hosts import SHELL_COMMAND, there_and_back
from tests.real_paths import (
    AT_PROMPT,
    PLAN,
    assert_followed,
    assert_sums,
    find_paths,
    follow,
    join,
    select_echoed,
)

pytestmark = pytest.mark.nightly

LETTERS = 'Set Echo {}\nSet KeyRate 8cps\nSleep 500ms\nForever\n  Type "abcdefghi"\nEnd\n'
RAW = "#!/bin/bash\nstty raw -echo\n"
AT_ONCE = r"""
Set Echo timed
Set KeyRate 0
Set Prompt /\$ $/
Wait+Prompt
Forever
  Type "echo abc"
  Wait+Echo
  Type 'def'
  Enter
  Wait+Prompt
End
"""


def test_keys_that_come_together_have_their_own_path_or_none(here: Path, write: Write) -> None:
    write("keys.tape", AT_ONCE)
    write("plan.toml", PLAN)
    with telnetd(busybox, here) as port:
        keys = follow(here, f"telnet://127.0.0.1:{port}", "--users", "2")
    paths = find_paths(keys)
    assert len(paths) > 20
    assert_sums(paths)
    for key in keys:
        if key.path:
            assert 0 < (key.followed.row.key - key.path.key_from) <= key.path.key_to - key.path.key_from
            assert key.path.echo_from < key.followed.row.echo_to <= key.path.echo_to
    assert {key.missing for key in keys if not key.path} <= {"no_path", "another_answer", "not_whole"}
    path = json.loads((here / "out.json").read_text())["steps"][-1]["echo"]["path"]
    assert path["missing"] == sum(path["missing_for"].values())


EATS = """exec {python} -c "
import os
while key := os.read(0, 1):
    if key not in b'cfi':
        os.write(1, key)
"
"""


def test_a_key_that_dies_has_no_path_and_takes_no_others(here: Path, write: Write) -> None:
    write("keys.tape", LETTERS.format("timed"))
    write("plan.toml", PLAN)
    with telnetd(busybox, here, RAW + EATS.format(python=sys.executable)) as port:
        (host,) = join(
            here, f"telnet://127.0.0.1:{port}", "--users", "3", ends=Exit.INVALID
        )  # too many keys are not echoed
    python = Path(sys.executable).name
    paths = assert_followed(select_echoed(host), [there_and_back("busybox", python)], 30)
    eaten = json.loads((here / "out.json").read_text())["errors"]["by_name"]["unechoed"]
    assert eaten > 10
    # None of the paths begins with a key before its own.
    assert {key.path.key_to - key.path.key_from for key in paths} == {1}


def test_of_two_programs_with_one_key_it_is_the_one_that_echoes_first(here: Path, write: Write) -> None:
    write("keys.tape", LETTERS.format("change"))
    write("plan.toml", PLAN)
    for name in ("first", "second"):
        (here / name).symlink_to("/bin/cat")
    with telnetd(busybox, here, f"{RAW}exec tee >(exec {here}/first >&2) | exec {here}/second >&2\n") as port:
        keys = follow(here, f"telnet://127.0.0.1:{port}", "--users", "3")
    back = "kworker", "busybox"
    assert_followed(keys, [("busybox", "kworker", "tee", name, *back) for name in ("first", "second")], 40)


TWO_CLIENTS = """
[[group]]
name = "typist"
users = 1
[[group]]
name = "watcher"
users = 2
tape = "watch.tape"
"""


def test_the_clients_of_one_tmux_have_only_their_own_keys(here: Path, write: Write) -> None:
    write("keys.tape", AT_PROMPT)
    write("watch.tape", "Forever\n  Sleep 1s\nEnd\n")
    write("plan.toml", PLAN + TWO_CLIENTS)
    one = f'tmux -f /dev/null -S {here}/tmux new-session -A -s one "{SHELL_COMMAND}"'
    with telnetd(busybox, here, f"#!/bin/sh\nexec {one}\n") as port:
        keys = follow(here, f"telnet://127.0.0.1:{port}")
    assert_followed(keys, [there_and_back("busybox", "tmux: server", "bash")], 15)
    assert {key.followed.row.user_group for key in keys} == {"typist"}


MOSH = """\
#!/bin/sh
export LC_ALL=C.UTF-8
set -- $(mosh-server new -i 127.0.0.1 -- {shell} 2>&1 | grep "MOSH CONNECT")
MOSH_KEY=$4 exec mosh-client 127.0.0.1 $3
"""
LOCALLY = ("kworker", "mosh-client", "kworker")


@pytest.mark.parametrize("predicts", ["never", "always"])
def test_behind_mosh_nothing_is_followed_and_its_client_is_named(predicts: str, here: Path, write: Write) -> None:
    assert all(map(needed, ("mosh-client", "mosh-server")))
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    write("mosh", MOSH.format(shell=SHELL_COMMAND)).chmod(0o755)
    with own_network():
        target = f"pty:env MOSH_PREDICTION_DISPLAY={predicts} {here}/mosh"
        paths = assert_followed(follow(here, target, "--users", "3"), [LOCALLY], 40)
    waited = [[hop for hop in key.hops if hop.kind == "sleeping" and hop.ns > 1_000_000] for key in paths]
    # Whatever woke the client for its server's datagram is not blamed.
    assert {(hop.task, hop.call, hop.other) for hops in waited for hop in hops} <= {("mosh-client", "pselect6", None)}
    if predicts == "never":
        assert all(waited), "each echo is the server's"
    else:
        assert sum(map(bool, waited)) < len(waited) / 2, "an echo that was predicted waits for nobody"
