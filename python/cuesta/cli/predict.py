"""`cuesta predict`: what other loads would see, as far as the rows can tell."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from cuesta.analysis.predict.answer import Answer
from cuesta.analysis.predict.changes import read_demand, read_servers
from cuesta.analysis.predict.from_runs import read_runs
from cuesta.analysis.predict.from_table import read_table
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
from cuesta.analysis.predict.what_if import read_mean_limit
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, RefusedError, UsageError
from cuesta.figures.limit import Limit
from cuesta.report.prediction import text
from cuesta.report.prediction_data import data
from cuesta.terminal import inform, renew_row

SEED = 1
"""The seed of `cuesta run`, unless told otherwise."""
MANY_USERS = 10_000
"""From this number of users on, a simulation takes seconds."""
NO_ROW = "none"
"""The value of --fit with which nothing is fitted."""


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    changes = [*map(read_demand, arguments.demand), *map(read_servers, arguments.servers)]
    limit, seed = _limit(arguments.limit), _seed(arguments)
    is_simulated_limit = arguments.simulate and limit is not None and is_percentile(limit)
    measurements = select_configurations(_read(arguments.inputs), arguments.configuration)
    allowed = None if limit is None or is_simulated_limit else read_mean_limit(limit, measurements)
    fit = _fit(measurements, arguments.fit)
    loads = _loads(measurements, fit, arguments)
    prediction = predict(measurements, fit, loads, _margin(arguments.margin))
    answer = Answer(prediction, changes, limit, allowed)
    simulations = _simulations(answer, seed) if arguments.simulate else []
    say(text(answer, simulations), arguments.json)
    write_json(arguments.json, data(answer, simulations))
    in_conflict = arguments.check == "meters" and prediction.conflicts
    is_answered = answer.is_reported and all(each.is_answered for each in simulations)
    return Exit.GOOD if is_answered and not in_conflict else Exit.REFUSED


def _simulations(answer: Answer, seed: int) -> list[SimulatedSystem]:
    found = [run_simulations(answer, each, seed, _tell) for each in answer.prediction.systems]
    if sys.stderr.isatty():
        renew_row("")
    return found


def _read(inputs: Sequence[Path]) -> Measurements:
    tables = [path for path in inputs if path.suffix == ".toml"]
    if not tables:
        return read_runs(inputs)
    if len(inputs) > 1:
        raise UsageError("cuesta predict: expected run folders, or one typed table", "give one INPUT for each question")
    return read_table(tables[0])


def _fit(measurements: Measurements, texts: Sequence[str]) -> list[Point]:
    """The rows to be fitted. Raises RefusedError if there are none, unless none was asked for."""
    if list(texts) == [NO_ROW]:
        return []
    found = select_rows(measurements.points, [read_conditions(text, "--fit", measurements.users_are) for text in texts])
    if not found:
        why = "; ".join(measurements.notes) or "nothing was measured"
        raise RefusedError(
            f"{measurements.title}: no row can be fitted: {' or '.join(texts) or why}",
            f"there are {len(measurements.points)} rows",
        )
    return found


def _loads(measurements: Measurements, fit: Sequence[Point], arguments: argparse.Namespace) -> list[Conditions]:
    """The loads that are asked, each once; by default those of the rows that were held out, or of all rows."""
    if wanted := read_questions(arguments.at, arguments.users, measurements.users_are):
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


def _seed(arguments: argparse.Namespace) -> int:
    text = arguments.seed
    if text is None:
        return SEED
    if not arguments.simulate:
        raise UsageError("cuesta predict: --seed: without --simulate nothing is by chance", "add --simulate")
    if not text.isdigit() or int(text) >= 2**63:
        raise UsageError(f"cuesta predict: --seed: expected a whole number, got {text!r}", "for example --seed 2")
    return int(text)


def _tell(users: int) -> None:
    """Say what is simulated: on a terminal in one row, which the result overwrites; else only what takes long."""
    text = f"cuesta: simulating {users:,} users"
    if sys.stderr.isatty():
        renew_row(text)
    elif users >= MANY_USERS:
        inform(text)


def _margin(text: str | None) -> float:
    if text is None:
        return MARGIN
    number = text.removesuffix("%")
    if not text.endswith("%") or not number.replace(".", "", 1).isdigit() or not 0 < float(number) < 100:
        raise UsageError(f"cuesta predict: --margin: expected a percentage, got {text!r}", "for example --margin 10%")
    return float(number) / 100
