"""A side of a comparison: a handful of runs, those that cannot be trusted left out, each with its reason."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cuesta.analysis.replicate import Replicate, of_trial, replicate
from cuesta.analysis.trial import read_trial
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
    runs: Sequence[Replicate]
    left_out: Sequence[LeftOut]


def apart(folder: Path, step: int | None = None) -> Side:
    """Read a side whose runs were made for themselves; of sweeps, the step with this number or the last."""
    if is_certification(folder):
        given = open_certification(folder).given
        return side(folder, [of_trial(read_trial(run, given.pause), given) for run in run_folders(folder)])
    return side(folder, [replicate(run, step) for run in run_folders(folder)])


def in_pairs(folder: Path, step: int | None = None) -> tuple[Side, Side]:
    """Read both sides of runs that were made in pairs: a pair counts if both of its runs do."""
    pairs = [(replicate(pair.base, step), replicate(pair.new, step)) for pair in read_pairs(folder)]
    good = [pair for pair in pairs if not any(run.unusable for run in pair)]
    spoilt = [pair for pair in pairs if pair not in good]

    def of(number: int) -> Side:
        left_out = [LeftOut(pair[number].folder, why(pair, number)) for pair in spoilt]
        return Side(folder, [pair[number] for pair in good], left_out)

    return of(0), of(1)


def why(pair: Sequence[Replicate], number: int) -> str:
    """Say why a run of a pair is not used."""
    return pair[number].unusable or "the other run of its pair is left out"


def side(folder: Path, runs: Sequence[Replicate]) -> Side:
    """Part the runs of a side into those that can be used and the others."""
    used: list[Replicate] = []
    left_out: list[LeftOut] = []
    for run in runs:
        twin = next((other for other in used if same_run(run, other)), None)
        why = run.unusable or (twin and f"it is {twin.folder.name} once more")
        if why:
            left_out.append(LeftOut(run.folder, why))
        else:
            used.append(run)
    return Side(folder, used, left_out)


def same_run(one: Replicate, other: Replicate) -> bool:
    """Say whether two folders hold the same run: a copy is no repetition."""
    return one.started == other.started and one.figures == other.figures
