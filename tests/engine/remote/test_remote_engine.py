"""How nodes are named, and that all must have this version of Cuesta."""

from typing import Any

import pytest

from cuesta import __version__
from cuesta.engine.remote.remote_engine import check_versions, name_nodes
from cuesta.errors import CuestaError


def node(host: str, address: str) -> dict[str, Any]:
    return {"host": host, "address": address}


@pytest.mark.parametrize(
    ("nodes", "names"),
    [
        ([node("a", "10.0.0.1"), node("b", "10.0.0.2")], ["a", "b"]),
        ([node("vm", "10.0.0.1"), node("vm", "10.0.0.2")], ["10.0.0.1", "10.0.0.2"]),
        ([node("vm", "10.0.0.1"), node("vm", "10.0.0.1")], ["10.0.0.1#1", "10.0.0.1#2"]),
    ],
    ids=["by what they call themselves", "by address", "by number"],
)
def test_names_tell_nodes_apart(nodes: list[dict[str, Any]], names: list[str]) -> None:
    assert name_nodes(nodes) == names


def test_nodes_with_another_version_or_none_are_named() -> None:
    check_versions(["a"], [__version__], "install it")
    with pytest.raises(CuestaError) as raised:
        check_versions(["a", "b", "c"], [__version__, "0.0.1", None], "install it")
    assert str(raised.value) == f"all nodes need Cuesta {__version__}: b has Cuesta 0.0.1, c has no Cuesta"
