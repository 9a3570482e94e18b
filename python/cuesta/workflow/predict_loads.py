"""Predicts what other loads would see: run folders or a typed table → rows → a fitted model → figures, or a refusal."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cuesta.analysis.history.table_points import read_table
from cuesta.analysis.predict.changes import read_demand, read_servers
from cuesta.analysis.predict.from_runs import read_runs
from cuesta.analysis.predict.points import Conditions, Measurements, Point
from cuesta.analysis.predict.prediction import MARGIN, predict
from cuesta.analysis.predict.selection import (
    list_loads,
    read_conditions,
    read_questions,
    select_configurations,
    select_rows,
)
from cuesta.analysis.predict.simulate import SimulatedSystem, run_simulations
from cuesta.analysis.predict.simulated_limit import is_percentile
from cuesta.analysis.predict.what_if import Answer, read_mean_limit
from cuesta.errors import Exit, RefusedError, UsageError
from cuesta.figures.limit import Limit
from cuesta.validation import is_share

SEED = 1
"""The seed of `cuesta run`, unless told otherwise."""
NO_ROW = "none"
"""What `fit` says where nothing is to be fitted."""


@dataclass(frozen=True, slots=True)
class Questions:
    """What is asked, each as its flag has it (docs/predict.md)."""

    at: Sequence[str] = ()
    """The loads: `users=100,think=5s`; by default those that were measured."""
    users: str | None = None
    limit: str | None = None
    """How many users keep it: `response.mean < 1s`."""
    configuration: Sequence[str] = ()
    """Only rows of these."""
    fit: Sequence[str] = ()
    """Only rows that meet one of these are fitted; the others are held out."""
    margin: float = MARGIN
    """How far forms may differ from each other, and from rows that were not fitted; a share."""
    demand: Sequence[str] = ()
    """Other service demands: `cpu=-20%`."""
    servers: Sequence[str] = ()
    """Other numbers of servers: `disk=2`."""
    seed: int | None = None
    """The seed of a simulation, which gives percentiles; None: nothing is simulated."""


@dataclass(frozen=True, slots=True, repr=False)
class Prediction:
    """What other loads would see."""

    answer: Answer
    simulations: Sequence[SimulatedSystem]

    def __repr__(self) -> str:
        return f"<Prediction from {self.answer.prediction.measurements.title}>"

    @property
    def in_conflict(self) -> bool:
        """Whether response and meters disagree on what saturates."""
        return bool(self.answer.prediction.conflicts)

    @property
    def exit(self) -> Exit:
        """The code with which the command ends: whether all that was asked is reported."""
        is_answered = self.answer.is_reported and all(each.is_answered for each in self.simulations)
        return Exit.GOOD if is_answered else Exit.REFUSED

    def text(self, *, colour: bool | None = False) -> str:
        """The prediction for a terminal; `colour` None: if this is a terminal."""
        from cuesta.report.prediction import text  # noqa: PLC0415, slow, and not always wanted

        return text(self.answer, self.simulations, colour)

    def json(self) -> dict[str, Any]:
        """The object that `--json` prints (docs/predict.md)."""
        from cuesta.report.prediction_data import data  # noqa: PLC0415, slow, and not always wanted

        return data(self.answer, self.simulations)


def predict_loads(inputs: Sequence[Path], asked: Questions, tell: Callable[[int], None]) -> Prediction:
    """Fit what was measured and answer. `tell` receives the number of users of each simulation before it.

    Raises UsageError for a question, InputError for an input, RefusedError if no row can be fitted.
    """
    if not is_share(asked.margin):
        raise UsageError(f"cuesta predict: margin: expected a share between 0 and 1, got {asked.margin!r}", "as 0.1")
    if asked.seed is not None and not (isinstance(asked.seed, int) and 0 <= asked.seed < 2**63):
        raise UsageError(f"cuesta predict: seed: expected a whole number, got {asked.seed!r}", "as 2")
    changes = [*map(read_demand, asked.demand), *map(read_servers, asked.servers)]
    limit = _limit(asked.limit)
    is_simulated_limit = asked.seed is not None and limit is not None and is_percentile(limit)
    measurements = select_configurations(_read(inputs), asked.configuration)
    allowed = None if limit is None or is_simulated_limit else read_mean_limit(limit, measurements)
    fit = _fit(measurements, asked.fit)
    prediction = predict(measurements, fit, _loads(measurements, fit, asked), asked.margin)
    answer = Answer(prediction, changes, limit, allowed)
    systems = prediction.systems if asked.seed is not None else []
    return Prediction(answer, [run_simulations(answer, system, asked.seed or 0, tell) for system in systems])


def _read(inputs: Sequence[Path]) -> Measurements:
    tables = [path for path in inputs if path.suffix == ".toml"]
    if inputs and not tables:
        return read_runs(inputs)
    if len(inputs) != 1:
        raise UsageError("cuesta predict: expected run folders, or one typed table", "give one INPUT for each question")
    return read_table(tables[0])


def _fit(measurements: Measurements, texts: Sequence[str]) -> list[Point]:
    """The rows to be fitted. Raises RefusedError if there are none, unless none was asked for."""
    if list(texts) == [NO_ROW]:
        return []
    rows = select_rows(measurements.points, [read_conditions(text, "--fit", measurements.users_are) for text in texts])
    if not rows:
        why = "; ".join(measurements.notes) or "nothing was measured"
        raise RefusedError(
            f"{measurements.title}: no row can be fitted: {' or '.join(texts) or why}",
            f"there are {len(measurements.points)} rows",
        )
    return rows


def _loads(measurements: Measurements, fit: Sequence[Point], asked: Questions) -> list[Conditions]:
    """The loads that are asked, each once; by default those of the rows that were held out, or of all rows."""
    if wanted := read_questions(asked.at, asked.users, measurements.users_are):
        return list_loads(measurements, fit or measurements.points, wanted)
    if not fit:
        return list(dict.fromkeys(point.at for point in measurements.points if point.at.known_delay is not None))
    names = {point.at.configuration for point in fit}
    rest = [point for point in measurements.points if point not in fit and point.at.configuration in names]
    return list(dict.fromkeys(point.at for point in rest or fit))


def _limit(text: str | None) -> Limit | None:
    try:
        return None if text is None else Limit.read(text)
    except ValueError as error:
        raise UsageError(f"--limit {text}: {error}", "as --limit 'response.mean < 1s'") from None
