"""The two asymptotes of a sweep."""

import json
from pathlib import Path

import pytest

from cuesta.analysis import summarise
from cuesta.analysis.asymptotes import Asymptotes, asymptotes
from tests.report.made_up import host_row
from tests.run_folder import RunFolder

TICK = 0.1


def swept(path: Path, busy: float, load: str = "closed") -> Asymptotes:
    """Sweep 2 and 8 users over a host whose only server is `busy` in the first step and twice as much in the second."""
    folder = RunFolder(
        path, users=(2, 8), settle=2, measure=10, load=load, responses=lambda step, *_: [TICK] * (step + 1)
    ).write()
    (folder / "host").mkdir()
    rows = [host_row(second) for second in range(24)]
    for second, row in enumerate(rows):
        row["servers"]["busy"] = busy * (1 + (second >= 12))
    (folder / "host" / "series.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return asymptotes(summarise(folder))


def test_light_load_is_that_of_the_lightest_step(tmp_path: Path) -> None:
    found = swept(tmp_path / "run", 0.4).light
    assert found
    assert found.users == 2
    assert found.response == pytest.approx(TICK - 0.001)
    assert found.cycle == pytest.approx(2 / 1.0), "N/X: two users, one transaction a second"


def test_heavy_load_is_the_largest_demand_where_it_was_busiest(tmp_path: Path) -> None:
    found = swept(tmp_path / "run", 0.4)
    assert found.heavy
    assert (found.heavy.resource, found.heavy.users) == ("the built-in host's servers", 8)
    assert found.heavy.demand == pytest.approx(0.8 / 2.0), "U/X"
    assert found.crossing == pytest.approx(2.0 / 0.4)


def test_a_resource_that_hardly_works_allows_no_guess(tmp_path: Path) -> None:
    found = swept(tmp_path / "run", 0.1)
    assert found.heavy is None
    assert found.crossing is None
    assert (
        found.no_heavy
        == "no metered resource came near its limit: the busiest one, the built-in host's servers, was 20.0 % busy"
    )


def test_open_loads_have_no_cycle(tmp_path: Path) -> None:
    found = swept(tmp_path / "run", 0.4, "open:2/s")
    assert found.light is None
    assert "closed load" in found.no_light
