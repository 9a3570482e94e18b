"""A certification with known figures: made-up runs in the form in which meters and driver record them."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from cuesta.analysis.certify.certification_run import CertificationRun, CpuAccount, SampleTotals, WholeReadings
from cuesta.analysis.certify.extra_runs import ExtraRuns
from cuesta.analysis.certify.phases import PhaseTimes, Span
from cuesta.ledger.meters import Metered, MeterRow
from cuesta.ledger.readings import KernelThreads, Linked
from cuesta.ledger.record import Method, RecordFigure
from cuesta.records.rows import MeterAbout
from tests.meter_reports import typed

ABOUT = MeterAbout(
    source="here", subject="children:7", why="the programs on the driver's terminals", honesty="they compete"
)


METHOD = Method(
    runs=5,
    excluded={},
    settling=1,
    apart={"traced": ["traced/run-1"], "linkage": ["linkage/run-1"], "control": ["control/run-1"]},
    untraced=None,
    unmetered=RecordFigure(value=2.0),
    cost=RecordFigure(value=0.125),
    settled="yes",
    cut="by readings",
    metered="here",
    honesty="",
    tools={},
)


def reading(end: float, length: float, own: float, **rest: float) -> MeterRow:
    """A meter report: CPU seconds of the subject, and of everything else on the two CPUs."""
    capacity = 2 * length
    percent = {name: 100 * seconds / capacity for name, seconds in rest.items()}
    beside = {name: percent.get(name, 0.0) for name in ("iowait", "steal", "idle")}
    figures: dict[str, Any] = {
        "cpus": [0, 1],
        "own": {"seconds": own, "others": percent.pop("others", 0.0)},
        "cpu": {"usr": 100 - sum(beside.values()), **beside},
        "counts": {"minor_faults": {"count": 100}, "major_faults": {"count": 1}, "of_machine": ["interrupts"]},
        "by_cause": {
            "causes": {
                "user": {"seconds": 0.6 * own},
                "page_faults": {"seconds": 0.3 * own, "count": 101.0},
                "loading": {"seconds": 0.1 * own},
            },
            "about": {"samples": 997 * own},
        },
    }
    return MeterRow(end, length, typed(figures))


def recorded(*rows: MeterRow, about: MeterAbout | None = ABOUT, gaps: tuple[Any, ...] = ()) -> Any:
    """The records of a run that a CPU account needs."""
    abouts = {0: about} if about else {}
    return SimpleNamespace(metered=Metered(abouts, list(rows), gaps=list(gaps)), plan={"validity": {"steal": "10%"}})


def account(span: Span, subject: float, **rest: float) -> CpuAccount:
    """A CPU account of two CPUs that adds up: the remaining time is idle."""
    capacity = 2 * span.seconds
    idle = capacity - subject - sum(rest.values())
    others: Any = {"throttled": 0.0, **rest, "idle": idle}
    shares: Any = {"user": 0.5, "page_faults": 0.2, "loading": 0.2, "linking": 0.1}
    return CpuAccount(
        span,
        cpus=2,
        subject=subject,
        rest=Counter(others),
        causes=Counter({name: share * subject for name, share in shares.items()}),
        coverage=0.99,
        readings=4,
        samples=SampleTotals(100.0),
        counts=Counter(minor_faults=900, major_faults=100),
        occurrences=Counter(softirq=30, interrupts=20, mapping=400, system_calls=5000),
        readings_with=Counter(minor_faults=4, major_faults=4, throttled=4, page_waits=4, system_calls=4),
        whole_readings=WholeReadings(capacity, Counter(others)),
    )


def trial(number: int = 1, subject: float = 1.0, doubts: tuple[str, ...] = (), **rest: float) -> CertificationRun:
    """A run of four users: a second of creation, a pause of one, two seconds of commands."""
    spans = {"creation": Span(0.0, 1.0), "command": Span(2.0, 4.0)}
    did = PhaseTimes(4, spans, [0.5, 0.5, 1.0, 1.0], [1.0, 2.0, 2.0, 1.0], list(doubts))
    accounts = {
        "creation": account(spans["creation"], 0.2 * subject, others=0.1),
        "command": account(spans["command"], subject, **{"others": 0.2, **rest}),
    }
    step = SimpleNamespace(
        lateness=SimpleNamespace(p50=1e-4, p99=1e-3),
        driver=SimpleNamespace(cpu=0.01, run_wait=0.0),
        transactions=SimpleNamespace(count=48),
    )
    summary: Any = SimpleNamespace(recorded=recorded(), last=step, doubts=[], ended="completed", published=[])
    kernel = KernelThreads([-1.0, 5.0], [0.0, 0.06])  # a hundredth of a CPU
    return CertificationRun(Path(f"run-{number}"), summary, did, accounts, kernel)


def extra_runs(untraced: str | None = None) -> ExtraRuns:
    """The extra runs: 60 programs that bind 1,000 references in the first phase, 5,000 in the second."""
    linkage = Path("linkage/run-1")
    trials = {
        "traced": [] if untraced else [replace(trial(), folder=Path("traced/run-1"))],
        "linkage": [replace(trial(), folder=linkage)],
        "control": [replace(trial(), folder=Path("control/run-1"))],
    }
    linked = Linked([-0.5, 0.5, 1.5, 3.0, 4.5], [0, 4, 10, 40, 60], [0, 400, 1000, 3000, 6000])
    return ExtraRuns(trials, {linkage: linked}, untraced)
