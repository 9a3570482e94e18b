"""The laws hold on every simulated run, and a record that breaks one says so."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cuesta.analysis.capacity import find_bottleneck
from cuesta.analysis.capacity.findings import Conflicting
from cuesta.analysis.capacity.laws import LawCheck, check_laws
from cuesta.analysis.capacity.measured_step import MeasuredStep
from cuesta.analysis.capacity.resources import read_resources
from cuesta.analysis.law import agrees, apply_law
from cuesta.analysis.summary import summarise
from cuesta.figures.step import ResponseLaw
from cuesta.records.rows import TimeSums
from tests.analysis.capacity.simulated import Load, Simulated, simulate, write
from tests.run_folder import Row, change_rows

LOADS = st.builds(
    Load,
    users=st.integers(1, 40),
    think=st.floats(0.05, 3.0),
    service=st.floats(0.001, 0.1),
    servers=st.integers(1, 4),
    is_exponential=st.booleans(),
)


WAITING = "users waiting = throughput × response"
AT_SERVERS = "messages at the servers = throughput × response"


def checks(folder: Path) -> dict[str, LawCheck]:
    summary = summarise(folder)
    step = MeasuredStep(summary.recorded, summary.last)
    return {check.law: check for check in check_laws(step, read_resources(step))}


@settings(max_examples=25, deadline=None)
@given(LOADS, st.integers(1, 1000))
def test_laws_hold_on_every_simulated_run(load: Load, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder) / "run", [load], seconds=40, seed=seed)
        found = checks(path)
        assert {AT_SERVERS, "characters received = sent"} <= set(found)
        broken = {name for name, each in found.items() if not each.holds}
        # Users whose cycle always takes the same are met at the same point of it, second after second.
        assert broken == set() if load.is_exponential else broken <= {WAITING}, found
        assert not isinstance(find_bottleneck(summarise(path)), Conflicting)


@pytest.mark.parametrize(
    ("law", "file", "change"),
    [
        pytest.param(
            WAITING,
            "agent-0",
            lambda row: row | {"unfinished": row["unfinished"] // 3},
            id="users who wait, not counted",
        ),
        pytest.param(
            "characters received = sent",
            "host",
            lambda row: row | {"characters": row["characters"] | {"line_out": 1.2 * row["characters"]["line_out"]}},
            id="characters that are lost",
        ),
        pytest.param(
            AT_SERVERS,
            "host",
            lambda row: row | {"servers": row["servers"] | {"mean_queue": row["servers"]["mean_queue"] / 3}},
            id="a queue that the host's meters miss",
        ),
    ],
)
def test_a_record_that_breaks_a_law_says_so(tmp_path: Path, law: str, file: str, change: Callable[[Row], Row]) -> None:
    folder = write(tmp_path / "run", [Load(users=30, think=0.5, service=0.05)])
    assert checks(folder)[law].holds
    change_rows(folder / file / "series.jsonl", change)
    assert not checks(folder)[law].holds


def test_a_sound_run_at_the_knee_is_not_called_miscounted() -> None:
    """There a queue may be long at one edge of the interval and short at the other."""
    knee = Load(users=96, think=1.0, service=0.01)
    runs = [simulate(knee, 30, seed) for seed in range(40)]
    assert sum(not agrees(law_of(each)) for each in runs) <= 1


def test_a_sound_run_of_one_user_is_not_called_miscounted() -> None:
    """One response crosses each edge; one in 2000 exponential responses is 7.6 times as long as their mean."""
    alone = Load(users=1, think=0.08, service=0.08)
    runs = [simulate(alone, 40, seed) for seed in range(1000)]
    assert sum(not agrees(law_of(each)) for each in runs) <= 3


def test_a_tenth_of_the_transactions_left_out_is_noticed() -> None:
    runs = [simulate(Load(users=96, think=1.0, service=0.01), 30, seed) for seed in range(10)]
    assert sum(not agrees(law_of(each, counted=0.9)) for each in runs) >= 9


def law_of(simulated: Simulated, counted: float = 1.0) -> ResponseLaw:
    """The law of a run of which only some transactions were counted."""
    responses = [each for second in simulated.responses for each in second]
    responses = responses[: round(counted * len(responses))]
    think = simulated.load.users * simulated.seconds - sum(simulated.waiting)
    sums = TimeSums(think=think, keying=0.0, response=sum(responses), response_from_sent=sum(responses))
    found = apply_law(
        simulated.load.users,
        simulated.seconds,
        len(responses),
        sums,
        (simulated.under_way_before, simulated.under_way[-1]),
    )
    assert found
    return found
