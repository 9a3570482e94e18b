import json

import pytest

from cuesta.engine.node_needs import HERE, Lack, NodeNeeds, TargetNeeds, refuse
from cuesta.errors import CuestaError

TARGET = TargetNeeds("ssh://bastion", 30, {"user": "ann", "password": "correct horse"})
NEEDS = NodeNeeds(30, 94, 0, 0, 1 << 20, [TARGET], {"/k": "open sesame"})


def test_needs_cross_as_json() -> None:
    assert NodeNeeds.from_row(json.loads(json.dumps(NEEDS.as_row()))) == NEEDS


def test_no_secret_is_shown() -> None:
    assert "horse" not in repr(NEEDS)
    assert "sesame" not in repr(NEEDS)


def test_lacks_are_told_by_node_and_those_of_several_once() -> None:
    refuse({HERE: [], "a": []})
    program, ports = Lack("no `vim`", "install it"), Lack("no ports")
    with pytest.raises(CuestaError) as raised:
        refuse({"a": [program], "b": [program, ports], HERE: [ports]})
    assert str(raised.value).splitlines() == [
        "the run cannot start, for 2 reasons:",
        "  a, b: no `vim`",
        "    install it",
        "  b, this machine: no ports",
    ]


def test_one_lack_is_an_error_with_its_remedy() -> None:
    with pytest.raises(CuestaError, match=r"^no `vim`$") as raised:
        refuse({HERE: [Lack("no `vim`", "install it")]})
    assert raised.value.remedy == "install it"
    with pytest.raises(CuestaError, match=r"^b: no `vim`$"):
        refuse({"a": [], "b": [Lack("no `vim`")]})
