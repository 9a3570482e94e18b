"""Published figures beside the figures of a folder with known results."""

from pathlib import Path

import pytest

from cuesta.analysis.summary import summarise
from tests.run_folder import Row, RunFolder

SOURCE = "a memo of 1981"


def published(figure: str, value: str, **more: object) -> Row:
    return {"what": "work done", "figure": figure, "value": value, "source": SOURCE, **more}


def test_a_figure_stands_beside_the_step_with_its_number_of_users(tmp_path: Path) -> None:
    figures = [
        published("characters.in_per_s_per_user", "1.6", users=2),
        published("response.mean", "6.3s", users=4, bound="at least"),
    ]
    found = summarise(RunFolder(tmp_path / "run", users=(2, 4), measure=5, published=figures).write()).json()
    first, second = found["published"]
    assert (first["step"], first["measured"], first["ratio"]) == (0, 13.0, pytest.approx(8.125))
    assert (second["step"], second["published"], second["bound"], second["is_duration"]) == (1, 6.3, "at least", True)
    assert second["measured"] == pytest.approx(0.15, rel=1e-3)
    assert second["ratio"] == pytest.approx(0.15 / 6.3, rel=1e-3)
    assert [len(step["published"]) for step in found["steps"]] == [1, 1]


def test_a_figure_without_a_number_of_users_is_compared_with_every_step(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", users=(2, 4), measure=5, published=[published("throughput", "4")]).write()
    assert [(each.step, each.ratio) for each in summarise(folder).published] == [(0, 0.5), (1, 0.5)]


@pytest.mark.parametrize(
    ("figure", "value", "users", "step"), [("throughput", "2", 35, None), ("echo.p99", "1s", 4, 0)]
)
def test_without_a_measurement_there_is_no_ratio(
    tmp_path: Path, figure: str, value: str, users: int, step: int | None
) -> None:
    folder = RunFolder(tmp_path / "run", published=[published(figure, value, users=users)]).write()
    (found,) = summarise(folder).published
    assert (found.step, found.measured, found.ratio, found.users) == (step, None, None, users)


def test_a_published_zero_gives_no_ratio(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run", published=[published("errors.rate", "0%")]).write()
    (found,) = summarise(folder).published
    assert (found.measured, found.published, found.ratio) == (0.0, 0.0, None)
