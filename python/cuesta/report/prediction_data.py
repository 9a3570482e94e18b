"""A prediction as the object that `--json` prints."""

import math
from collections.abc import Sequence
from typing import Any

from cuesta.analysis.certainty import CONFIDENCE
from cuesta.analysis.predict.fitting import named_parts
from cuesta.analysis.predict.points import Conditions
from cuesta.analysis.predict.prediction import Figure, SystemPrediction
from cuesta.analysis.predict.saturation import Saturation
from cuesta.analysis.predict.simulate import SimulatedSystem
from cuesta.analysis.predict.simulated_limit import SimulatedLimit
from cuesta.analysis.predict.simulation import SimulatedFigure
from cuesta.analysis.predict.what_if import Answer, Capacity, Estimate


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
                **system_data(answer, system),
                "simulated": simulation_data(simulations[number]) if simulations else None,
            }
            for number, system in enumerate(prediction.systems)
        ],
        "refused": list(prediction.refused),
        "notes": list(prediction.notes),
    }


def system_data(answer: Answer, system: SystemPrediction) -> dict[str, Any]:
    model, then = system.model, answer.changed[system]
    return {
        "model": model.form.name,
        "formula": model.form.formula(system.figures[0].at.is_paced),
        "rows": model.fit.rows,
        "parameters": named_parts(model),
        "supported": [each.form.name for each in system.choice.supported],
        "rejected": [each.form.name for each in system.choice.rejected],
        "figures": [figure_data(figure) for figure in system.figures],
        "held_out": system.held_out
        and {
            "rows": len(system.held_out.errors),
            "mape": system.held_out.mape,
            "within_band": system.held_out.within,
            "own_split": system.held_out.is_own_split,
        },
        "saturation": [saturation_data(each) for each in system.saturations],
        "conflicts": [
            {"response": saturation_data(each.response), "meter": saturation_data(each.meter)}
            for each in system.conflicts
        ],
        "capacity": [capacity_data(each) for each in answer.capacities[system]],
        "what_if": {
            "changes": [str(change) for change in answer.changes],
            "figures": [
                {
                    **load_data(each.at),
                    "response": None if each.before.is_response_too_wide else reported_data(each.response),
                    "throughput": None if each.response.not_reported else each.throughput,
                }
                for each in then.figures
            ],
            "capacity": [capacity_data(each) for each in then.capacities],
        },
    }


def load_data(at: Conditions) -> dict[str, Any]:
    return {
        "configuration": at.configuration,
        "users": at.users,
        "think": at.think,
        "keying": at.keying,
        "cycle": at.cycle,
    }


def figure_data(figure: Figure) -> dict[str, Any]:
    reported = not figure.not_reported
    point = figure.measured
    return {
        **load_data(figure.at),
        "response": estimate_data(Estimate(figure.response, figure.response_band))
        if reported and not figure.is_response_too_wide
        else None,
        "throughput": estimate_data(Estimate(figure.throughput, figure.throughput_band)) if reported else None,
        "bound": figure.bound,
        "not_reported": figure.not_reported or None,
        "forms": {name: finite_or_none(value) for name, value in figure.forms.items()},
        "spread": [finite_or_none(figure.spread.low), finite_or_none(figure.spread.high)],
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


def estimate_data(estimate: Estimate) -> dict[str, Any]:
    return {
        "value": finite_or_none(estimate.value),
        "low": finite_or_none(estimate.band.low),
        "high": finite_or_none(estimate.band.high),
    }


def reported_data(estimate: Estimate) -> dict[str, Any] | None:
    return None if estimate.not_reported else estimate_data(estimate)


def determined_data(estimate: Estimate) -> dict[str, Any] | None:
    return estimate_data(estimate) if estimate.is_determined else None


def saturation_data(point: Saturation) -> dict[str, Any]:
    users = estimate_data(Estimate(point.users, point.band))
    return {"by": point.by, **load_data(point.at), "users": users, "throughput": point.throughput}


STATION = ("name", "demand", "servers")


def capacity_data(capacity: Capacity) -> dict[str, Any]:
    return {
        **load_data(capacity.at),
        "users": None,
        "stations": [{name: getattr(each, name) for name in STATION} for each in capacity.stations],
        "saturation": determined_data(capacity.saturation),
        "throughput": None if capacity.saturation.not_reported else capacity.most_throughput,
        "allowed": capacity.allowed and determined_data(capacity.allowed),
    }


def simulation_data(system: SimulatedSystem) -> dict[str, Any]:
    return {
        "seed": system.seed,
        "played": list(system.workloads),
        "notes": list(system.notes),
        "refused": list(system.refused),
        "hosts": [
            {
                "changes": [str(change) for change in host.changes],
                "figures": [simulated_data(figure) for figure in host.figures],
                "limits": [limit_data(each) for each in host.limits],
                "events": host.events,
                "seconds": host.elapsed,
            }
            for host in system.hosts
        ],
    }


def simulated_data(figure: SimulatedFigure) -> dict[str, Any]:
    return {
        **load_data(figure.asked),
        "played": {"think": figure.at.think, "keying": figure.at.keying},
        "series": {
            each.name: {
                "count": each.count,
                "mean": each.mean and estimate_data(each.mean),
                **{name: estimate_data(estimate) for name, estimate in each.percentiles.items()},
            }
            for each in figure.series
        },
        "mean": figure.mean and estimate_data(figure.mean),
        "exact": finite_or_none(figure.exact),
        "agrees": figure.agrees,
        "transactions": figure.transactions,
        "unanswered": figure.unanswered,
        "virtual_seconds": figure.virtual,
        "events": figure.events,
        "seconds": figure.elapsed,
    }


def limit_data(limit: SimulatedLimit) -> dict[str, Any]:
    return {
        **load_data(limit.at),
        "users": reported_data(limit.users),
        "reached": estimate_data(limit.reached) if limit.reached and not limit.users.not_reported else None,
        "not_reported": limit.users.not_reported or None,
        "open": limit.is_unbounded,
        "trials": limit.trials,
    }


def finite_or_none(value: float) -> float | None:
    """JSON has no infinity."""
    return value if math.isfinite(value) else None
