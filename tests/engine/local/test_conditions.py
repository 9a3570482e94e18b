from cuesta.engine.local.conditions import factors
from cuesta.plan import Settings


def test_it_says_where_the_driver_runs() -> None:
    here, elsewhere = Settings(), Settings.model_validate({"engine": "ssh:a,b"})
    assert "the driver and the meters run on the same machine" in factors(here)[-1]
    assert "the driver runs on 2 nodes that ssh reaches, and the meters here" in factors(elsewhere)[-1]
