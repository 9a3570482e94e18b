"""`cuesta predict`: what other loads would see, as far as the rows can tell."""

import argparse
import sys

from cuesta.analysis.predict.prediction import MARGIN
from cuesta.cli.options import percentage
from cuesta.cli.output import check_json, say, write_json
from cuesta.errors import Exit, UsageError
from cuesta.terminal import inform, renew_row
from cuesta.workflow.predict_loads import SEED, Questions, predict_loads

MANY_USERS = 10_000
"""From this number of users on, a simulation takes seconds."""


def carry_out(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    names = ("at", "users", "limit", "configuration", "fit", "demand", "servers")
    given = {name: getattr(arguments, name) for name in names}
    text = arguments.margin
    margin = MARGIN if text is None else percentage(text, "cuesta predict: --margin", "10%")
    asked = Questions(**given, margin=margin, seed=_seed(arguments))
    prediction = predict_loads(arguments.inputs, asked, _tell)
    if prediction.simulations and sys.stderr.isatty():
        renew_row("")
    say(prediction.text(colour=None), arguments.json)
    write_json(arguments.json, prediction.json())
    is_in_conflict = arguments.check == "meters" and prediction.in_conflict
    return Exit.REFUSED if is_in_conflict else prediction.exit


def _seed(arguments: argparse.Namespace) -> int | None:
    """The seed of a simulation; None without one."""
    text = arguments.seed
    if text is None:
        return SEED if arguments.simulate else None
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
