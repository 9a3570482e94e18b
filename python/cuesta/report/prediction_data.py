"""A prediction as the object that `--json` prints."""

import math
from collections.abc import Sequence
from typing import Any

from cuesta.analysis.certainty import CONFIDENCE
from cuesta.analysis.predict.answer import Answer
from cuesta.analysis.predict.fitting import named_parts
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Figure, SystemPrediction
from cuesta.analysis.predict.saturation import Saturation
from cuesta.analysis.predict.simulate import SimulatedSystem
from cuesta.analysis.predict.simulated_limit import SimulatedLimit
from cuesta.analysis.predict.simulation import SimulatedFigure
from cuesta.analysis.predict.what_if import Capacity, Estimate


def data(answer: Answer, simulations: Sequence[SimulatedSystem] = ()) -> dict[str, Any]:
    """The object that `--json` prints. `simulations`: one for each system, or none."""
    prediction = answer.prediction
    return {
        "title": prediction.measurements.title,
        "confidence": CONFIDENCE,
        "reported": answer.is_reported,
        "conflict": bool(prediction.conflicts),
        "systems": [
            {
                **data_of_system(answer, system),
                "simulated": data_of_simulation(simulations[number]) if simulations else None,
            }
            for number, system in enumerate(prediction.systems)
        ],
        "refused": list(prediction.refused),
        "notes": list(prediction.notes),
    }


def data_of_system(answer: Answer, system: SystemPrediction) -> dict[str, Any]:
    own, then = system.model, answer.then[system]
    return {
        "model": own.form.name,
        "formula": own.form.formula(system.figures[0].at.is_paced),
        "rows": own.fit.rows,
        "parameters": named_parts(own),
        "supported": [each.form.name for each in system.choice.supported],
        "rejected": [each.form.name for each in system.choice.rejected],
        "figures": [data_of_figure(figure) for figure in system.figures],
        "held_out": system.held_out
        and {
            "rows": len(system.held_out.errors),
            "mape": system.held_out.mape,
            "within_band": system.held_out.within,
            "own_split": system.held_out.is_own_split,
        },
        "saturation": [data_of_saturation(each) for each in system.saturations],
        "conflicts": [
            {"response": data_of_saturation(each.response), "meter": data_of_saturation(each.meter)}
            for each in system.conflicts
        ],
        "capacity": [data_of_capacity(each) for each in answer.now[system]],
        "what_if": {
            "changes": [str(change) for change in answer.changes],
            "figures": [
                {
                    **data_of_load(each.at),
                    "response": None if each.before.is_response_open else data_of_reported(each.response),
                    "throughput": None if each.response.not_reported else each.throughput,
                }
                for each in then.figures
            ],
            "capacity": [data_of_capacity(each) for each in then.capacities],
        },
    }


def data_of_load(at: Conditions) -> dict[str, Any]:
    return {
        "configuration": at.configuration,
        "users": at.users,
        "think": at.think,
        "keying": at.keying,
        "cycle": at.cycle,
    }


def data_of_figure(figure: Figure) -> dict[str, Any]:
    reported = not figure.not_reported
    point = figure.measured
    return {
        **data_of_load(figure.at),
        "response": data_of(Estimate(figure.response, figure.response_band))
        if reported and not figure.is_response_open
        else None,
        "throughput": data_of(Estimate(figure.throughput, figure.throughput_band)) if reported else None,
        "bound": figure.bound,
        "not_reported": figure.not_reported or None,
        "forms": {name: finite(value) for name, value in figure.forms.items()},
        "spread": [finite(figure.spread.low), finite(figure.spread.high)],
        "outside": figure.is_outside,
        "fitted": figure.is_fitted,
        "observed": point
        and {
            "place": point.place,
            "response": point.response and point.response.value,
            "throughput": point.throughput and point.throughput.value,
        },
        "error": figure.error,
    }


def data_of(each: Estimate) -> dict[str, Any]:
    return {"value": finite(each.value), "low": finite(each.band.low), "high": finite(each.band.high)}


def data_of_reported(each: Estimate) -> dict[str, Any] | None:
    return None if each.not_reported else data_of(each)


def data_of_determined(each: Estimate) -> dict[str, Any] | None:
    return data_of(each) if each.is_determined else None


def data_of_saturation(each: Saturation) -> dict[str, Any]:
    users = data_of(Estimate(each.users, each.band))
    return {"by": each.by, **data_of_load(each.at), "users": users, "throughput": each.throughput}


def data_of_capacity(each: Capacity) -> dict[str, Any]:
    return {
        **data_of_load(each.at),
        "users": None,
        "stations": [
            {"name": station.name, "demand": station.demand, "servers": station.servers} for station in each.stations
        ],
        "saturation": data_of_determined(each.saturation),
        "throughput": None if each.saturation.not_reported else each.most,
        "allowed": each.allowed and data_of_determined(each.allowed),
    }


def data_of_simulation(system: SimulatedSystem) -> dict[str, Any]:
    return {
        "seed": system.seed,
        "played": list(system.played),
        "notes": list(system.notes),
        "refused": list(system.refused),
        "hosts": [
            {
                "changes": [str(change) for change in host.changes],
                "figures": [data_of_simulated(figure) for figure in host.figures],
                "limits": [data_of_limit(each) for each in host.limits],
                "events": host.events,
                "seconds": host.elapsed,
            }
            for host in system.hosts
        ],
    }


def data_of_simulated(figure: SimulatedFigure) -> dict[str, Any]:
    return {
        **data_of_load(figure.asked),
        "played": {"think": figure.at.think, "keying": figure.at.keying},
        "series": {
            each.name: {
                "count": each.count,
                "mean": each.mean and data_of(each.mean),
                **{name: data_of(found) for name, found in each.percentiles.items()},
            }
            for each in figure.series
        },
        "mean": figure.mean and data_of(figure.mean),
        "exact": finite(figure.exact),
        "agrees": figure.agrees,
        "transactions": figure.transactions,
        "unanswered": figure.unanswered,
        "virtual_seconds": figure.virtual,
        "events": figure.events,
        "seconds": figure.elapsed,
    }


def data_of_limit(found: SimulatedLimit) -> dict[str, Any]:
    return {
        **data_of_load(found.at),
        "users": data_of_reported(found.users),
        "reached": data_of(found.reached) if found.reached and not found.users.not_reported else None,
        "not_reported": found.users.not_reported or None,
        "open": found.is_open,
        "trials": found.trials,
    }


def finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
