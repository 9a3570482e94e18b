"""Certified systems as the ledger lists them: one elapsed time each."""

import datetime
from statistics import fmean

from cuesta.analysis.history.projection import MeasuredSystem
from cuesta.ledger.record import Record


def elapsed(record: Record) -> float | None:
    """Elapsed time of a system: the mean of the runs that count, in seconds.

    For a benchmark it is the makespan, for a certification the real time of a process (MPL-17's d.1).
    """
    known = elapsed_by_run(record)
    return fmean(known) if known else None


def elapsed_by_run(record: Record) -> list[float]:
    figure = "command" if record.given.kind == "benchmark" else "completion"
    values = [getattr(run, figure).value for run in record.runs]
    return [value for value in values if value is not None]


def idle(record: Record) -> float | None:
    """True idle as a share of the CPUs' time, the mean of the runs."""
    known = [run.idle.value for run in record.runs if run.idle.value is not None]
    return fmean(known) if known else None


def measured(
    record: Record, folder: str, per: float, brings: tuple[str, ...], doubt: str = ""
) -> MeasuredSystem | None:
    """Make a system's row, with its elapsed time in units of `per` seconds; None if nothing was measured."""
    found = elapsed(record)
    if found is None:
        return None
    given = record.given
    date = datetime.date.fromisoformat(given.started[:10])
    zero = idle(record) if given.kind == "benchmark" else None
    runs = tuple(each / per for each in elapsed_by_run(record))
    return MeasuredSystem(given.system, date, found / per, brings, zero, record.grade, folder, doubt, runs)
