"""Makes runs with known figures, to compare them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from cuesta.analysis.compare.comparability import collect_facts
from cuesta.analysis.compare.metrics import HEADLINES
from cuesta.analysis.compare.sides import ComparedRun, Side

RUN: dict[str, Any] = {
    "cuesta": "0.1.0",
    "plan": {"seed": 1, "threads": 1, "pin": False, "host": {"service_time": "exp 5ms"}, "validity": {"steal": 0.1}},
    "steps": [
        {
            "settle": "5s",
            "measure": "30s",
            "group": [{"name": "users", "users": 96, "think": None, "load": "closed", "target": "telnet://a:23"}],
        }
    ],
    "tapes": {"interactive": {"sha256": "8f" * 32}},
    "machine": {"id": "5bce98f73f3e", "cpus": 2, "memory": 8 << 30},
}
FACTS = collect_facts(RUN)


def unmeasured_run(number: int, side: str, **other: Any) -> ComparedRun:
    """A run in which only the given figures were measured."""
    names = [metric.name for metrics in HEADLINES for metric in metrics]
    made = ComparedRun(
        folder=Path(side) / f"run-{number}",
        started=f"2026-11-21T{10 + (side == 'new')}:{number:02}:00Z",
        facts=FACTS,
        figures=dict.fromkeys(names),
        parts={},
        effective_sizes={"response": 2000.0},
        totals={},
        bounds=(),
        failures={},
        errors=0,
        metered=1.0,
        honesty="driver and host share this machine",
        why_excluded=None,
    )
    return replace(made, **other)


def side(name: str, runs: int, **figures: float) -> Side:
    """Make a side whose runs have these figures, each slightly larger than the last, so that no two runs are equal."""
    own = 1.0005 if name == "new" else 1.001
    made = [
        unmeasured_run(
            number,
            name,
            figures=MISSING
            | {each: value * 1.002**number * own ** (number % 3) for each, value in with_dots(figures).items()},
        )
        for number in range(runs)
    ]
    return Side(Path(name), made, [])


def with_dots(figures: dict[str, float]) -> dict[str, float]:
    """Turn keyword names into the dotted names of `--json`."""
    return {name.replace("__", "."): value for name, value in figures.items()}


MISSING: dict[str, float | None] = dict.fromkeys(
    [
        *(metric.name for metrics in HEADLINES for metric in metrics),
        *(
            f"{series}.{name}"
            for series in ("response", "first_response", "echo")
            for name in ("p50", "p90", "p95", "p99")
        ),
        *("response.mean", "minor_faults", "switches", "system_calls", "ios"),
    ]
)
