from cuesta.engine.agents import share_of


def test_agents_get_their_own_cpus_while_some_are_free() -> None:
    spec = {"cpus": [4, 5, 6], "threads": 2}
    assert [share_of(spec, number)["cpus"] for number in range(3)] == [[4, 5], [6, 4], [5, 6]]
    assert share_of({"cpus": None, "threads": 1}, 1)["cpus"] is None
