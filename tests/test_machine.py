import json
import platform

from cuesta import machine


def test_it_tells_like_from_unlike_and_names_nobody() -> None:
    facts = machine.facts()
    assert facts == {**machine.facts(), "load": facts["load"]}
    assert facts["kernel"] == platform.release()
    assert isinstance(facts["memory"], int)
    assert platform.node() not in json.dumps(facts)
