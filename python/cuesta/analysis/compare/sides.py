"""A side of a comparison: a handful of runs, those that cannot be trusted left out, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.analysis.certify.run import read_trial
from cuesta.analysis.compare.run_sample import Replicate, of_trial, replicate
from cuesta.ledger.certification import is_certification, open_certification
from cuesta.ledger.experiment import read_pairs, run_folders


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A run that was not used."""

    folder: Path
    why: str


@dataclass(frozen=True, slots=True)
class Side:
    """One side: its runs that can be used, and the others."""

    folder: Path
    runs: list[Replicate]
    left_out: list[LeftOut]


def apart(folder: Path, step: int | None = None) -> Side:
    """Read a side whose runs were made for themselves; of sweeps, the step with this number or the last."""
    if is_certification(folder):
        given = open_certification(folder).given
        return side(folder, [of_trial(read_trial(run, given.pause), given) for run in run_folders(folder)])
    return side(folder, [replicate(run, step) for run in run_folders(folder)])


def in_pairs(folder: Path, step: int | None = None) -> tuple[Side, Side]:
    """Read both sides of runs that were made in pairs: a pair counts if both of its runs do."""
    base, new = Side(folder, [], []), Side(folder, [], [])
    for pair in read_pairs(folder):
        _add_pair(base, new, (replicate(pair.base, step), replicate(pair.new, step)))
    return base, new


def _add_pair(base: Side, new: Side, pair: tuple[Replicate, Replicate]) -> None:
    """Add a pair to both sides."""
    seen, why = [*base.runs, *new.runs], list[str | None]()
    for run in pair:
        why.append(run.unusable or once_more(run, seen, base.folder))
        seen.append(run)
    for one, run, own in zip((base, new), pair, why, strict=True):
        if any(why):
            one.left_out.append(LeftOut(run.folder, own or "the other run of its pair is left out"))
        else:
            one.runs.append(run)


def side(folder: Path, runs: Sequence[Replicate]) -> Side:
    """Part the runs of a side into those that can be used and the others."""
    found = Side(folder, [], [])
    for run in runs:
        if why := run.unusable or once_more(run, found.runs, folder):
            found.left_out.append(LeftOut(run.folder, why))
        else:
            found.runs.append(run)
    return found


def once_more(run: Replicate, others: Sequence[Replicate], folder: Path) -> str | None:
    """Say which of some runs this one is a copy of."""
    twin = next((other for other in others if same_run(run, other)), None)
    return f"it is {name_in(twin.folder, folder)} once more" if twin else None


def name_in(run: Path, folder: Path) -> str:
    """Name a run within its side."""
    return str(run.relative_to(folder)) if run != folder and run.is_relative_to(folder) else run.name


def same_run(one: Replicate, other: Replicate) -> bool:
    """Say whether two folders hold the same run: a copy is no repetition."""
    return one.started == other.started and one.figures == other.figures
