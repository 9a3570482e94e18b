import json
import platform

from cuesta import machine


def test_facts_distinguish_machines_without_names() -> None:
    facts = machine.facts()
    assert facts == {**machine.facts(), "load": facts["load"]}
    assert facts["kernel"] == platform.release()
    assert isinstance(facts["memory"], int)
    assert platform.node() not in json.dumps(facts)
