"""Certified systems as the ledger lists them: one elapsed time each."""

import datetime
from statistics import fmean

from cuesta.analysis.history.projection import MeasuredSystem
from cuesta.ledger.record import Record


def elapsed(record: Record) -> float | None:
    """Give a system's elapsed time, the mean of the runs that count, in seconds.

    Of a benchmark it is the makespan; of a certification the real time of a process, as MPL-17's d.1 has it.
    """
    known = elapsed_by_run(record)
    return fmean(known) if known else None


def elapsed_by_run(record: Record) -> list[float]:
    """Give the same run by run."""
    figure = "command" if record.given.kind == "benchmark" else "completion"
    values = [getattr(run, figure).value for run in record.runs]
    return [value for value in values if value is not None]


def idle(record: Record) -> float | None:
    """Give the share of the CPUs' time in true idle, the mean of the runs."""
    known = [run.idle.value for run in record.runs if run.idle.value is not None]
    return fmean(known) if known else None


def measured(
    record: Record, folder: str, per: float, brings: tuple[str, ...], doubt: str = ""
) -> MeasuredSystem | None:
    """Give a system's row, its elapsed time in units of so many seconds; None if nothing was measured."""
    found = elapsed(record)
    if found is None:
        return None
    given = record.given
    date = datetime.date.fromisoformat(given.started[:10])
    zero = idle(record) if given.kind == "benchmark" else None
    runs = tuple(each / per for each in elapsed_by_run(record))
    return MeasuredSystem(given.system, date, found / per, brings, zero, record.grade, folder, doubt, runs)
