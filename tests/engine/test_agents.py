from dataclasses import replace

from cuesta.engine.agents import share_of
from cuesta.records.messages import RunSpec


def test_agents_get_their_own_cpus_while_some_are_free() -> None:
    spec = RunSpec(seed=1, drain=0, groups=[], steps=[], cpus=[4, 5, 6], threads=2)
    assert [share_of(spec, number).cpus for number in range(3)] == [[4, 5], [6, 4], [5, 6]]
    assert share_of(replace(spec, cpus=None), 1).cpus is None
