from collections.abc import Iterator

import pytest

from tests.tmux.network import Network, network


@pytest.fixture
def net() -> Iterator[Network]:
    with network() as made:
        yield made
