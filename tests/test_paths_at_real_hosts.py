"""Keys are followed through all tasks of real daemons, multiplexers and relays, and the hops sum up."""

from pathlib import Path

import pytest

from tests.conftest import Write
from tests.own_network import own_network
from tests.path_hosts import HOSTS
from tests.real_paths import AT_PROMPT, PLAN, assert_followed, follow

QUICK = "telnetd", "sshd"
"""Those that are played for every change."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.nightly) for name in HOSTS]
)
def test_a_key_is_followed_through_all_its_tasks(name: str, here: Path, write: Write) -> None:
    host = HOSTS[name]
    write("keys.tape", AT_PROMPT)
    write("plan.toml", PLAN)
    with own_network(), host.serve(here) as target:
        keys = follow(here, target, "--users", str(host.users))
    assert_followed(keys, [host.tasks], 15 * host.users)
