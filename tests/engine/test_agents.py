from cuesta.engine.agents import of_agent


def test_agents_get_their_own_cpus_while_some_are_free() -> None:
    spec = {"cpus": [4, 5, 6], "threads": 2}
    assert [of_agent(spec, number)["cpus"] for number in range(3)] == [[4, 5], [6, 4], [5, 6]]
    assert of_agent({"cpus": None, "threads": 1}, 1)["cpus"] is None
