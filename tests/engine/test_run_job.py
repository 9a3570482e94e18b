"""A run of several segments."""

from pathlib import Path

from cuesta.engine.job import prepare
from cuesta.engine.run_job import with_steps_of_the_run
from cuesta.plan import RawOptions, load
from cuesta.records.observation import Observation
from tests.snapshots import snapshot


def test_an_observer_is_told_the_step_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "a.tape").write_text("Type x Enter")
    job = prepare(load(RawOptions(keywords={"tape": "a.tape", "line_speed": [300, 0], "users": [1, 2]}), tmp_path))
    seen: list[Observation] = []
    for segment in job.plan.segments():
        for step in range(2):
            observation = Observation(snapshots=[snapshot(step=step, steps=2)])
            with_steps_of_the_run(job, segment, seen.append)(observation)
    snapshots = [each for observation in seen for each in observation.snapshots]
    assert [(each.step, each.steps) for each in snapshots] == [(0, 4), (1, 4), (2, 4), (3, 4)]
