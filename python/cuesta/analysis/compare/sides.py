"""Reads a side of a comparison: its usable runs, and the excluded ones with their reasons."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.analysis.certify.run import read_run
from cuesta.analysis.compare.run_sample import RunSample, of_certification_run, run_sample
from cuesta.ledger.certification import is_certification, open_certification
from cuesta.ledger.experiment import read_pairs, run_folders


@dataclass(frozen=True, slots=True)
class ExcludedRun:
    """A run that is not used."""

    folder: Path
    why: str


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its usable runs, and the excluded ones."""

    folder: Path
    runs: list[RunSample]
    left_out: list[ExcludedRun]


def read_side(folder: Path, step: int | None = None) -> Side:
    """Read a side whose runs are not in pairs; of sweeps, step `step` or by default the last."""
    if is_certification(folder):
        setup = open_certification(folder).given
        return side(folder, [of_certification_run(read_run(run, setup.pause), setup) for run in run_folders(folder)])
    return side(folder, [run_sample(run, step) for run in run_folders(folder)])


def in_pairs(folder: Path, step: int | None = None) -> tuple[Side, Side]:
    """Read both sides of runs made in pairs: a pair counts if both of its runs are usable."""
    base, new = Side(folder, [], []), Side(folder, [], [])
    for pair in read_pairs(folder):
        _add_pair(base, new, (run_sample(pair.base, step), run_sample(pair.new, step)))
    return base, new


def _add_pair(base: Side, new: Side, pair: tuple[RunSample, RunSample]) -> None:
    earlier, why = [*base.runs, *new.runs], list[str | None]()
    for run in pair:
        why.append(run.unusable or once_more(run, earlier, base.folder))
        earlier.append(run)
    for one, run, own in zip((base, new), pair, why, strict=True):
        if any(why):
            one.left_out.append(ExcludedRun(run.folder, own or "the other run of its pair is left out"))
        else:
            one.runs.append(run)


def side(folder: Path, runs: Sequence[RunSample]) -> Side:
    """Separate usable runs from excluded ones."""
    result = Side(folder, [], [])
    for run in runs:
        if why := run.unusable or once_more(run, result.runs, folder):
            result.left_out.append(ExcludedRun(run.folder, why))
        else:
            result.runs.append(run)
    return result


def once_more(run: RunSample, others: Sequence[RunSample], folder: Path) -> str | None:
    """A sentence if the run is a copy of another one; else None."""
    twin = next((other for other in others if same_run(run, other)), None)
    return f"it is {name_in(twin.folder, folder)} once more" if twin else None


def name_in(run: Path, folder: Path) -> str:
    return str(run.relative_to(folder)) if run != folder and run.is_relative_to(folder) else run.name


def same_run(one: RunSample, other: RunSample) -> bool:
    """Whether two folders contain the same run. A copy is no repetition."""
    return one.started == other.started and one.figures == other.figures
