"""Two real network namespaces joined by a wire, each with a CPU. As root."""

import os
from collections.abc import Iterator

import pytest

from cuesta.engine.local.network.isolation import NetNsPair, link_namespaces

DRIVER, HOST = sorted(os.sched_getaffinity(0))[:2]


@pytest.fixture
def sides() -> Iterator[NetNsPair]:
    assert os.geteuid() == 0, "this test creates network namespaces and needs root"
    with link_namespaces([DRIVER], [HOST]) as made:
        yield made
