"""Runs two plans in turn: A B, B A, A B, B A, … so that drift affects both alike.

The runs of a pair have one seed: the same users type the same keys at the same due times on both sides. The next pair
has the next seed. A pair enters the index (docs/compare.md) when both of its runs have ended; an interrupted run stays
on disk. The caller judges whether a run counts. A pair of which a run does not count is given up and repeated; as many
pairs as were requested may fail to count, then the comparison ends.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal

from cuesta.engine.console import Console
from cuesta.engine.engines import LOCAL
from cuesta.engine.job import Job, prepare
from cuesta.engine.ports import Engine
from cuesta.engine.run_job import Judge, run_job
from cuesta.plan import RawOptions, load
from cuesta.private_files import private
from cuesta.records.observation import RunOfSeries

INDEX = "pairs.jsonl"
Name = Literal["base", "new"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of one pair."""

    pair: int
    """The number of the pair, from 1."""
    name: Name
    job: Job
    folder: Path


@dataclass(frozen=True, slots=True)
class Interleaved:
    """The pairs of runs to make."""

    base: RawOptions
    new: RawOptions
    here: Path
    """Folder to which paths in flags and cuesta.toml are relative."""
    pairs: int
    """How many pairs must count."""
    folders: tuple[Path, Path] | None = None
    """Where the programs of each side start; None: in `here`."""

    def jobs(self, pair: int) -> tuple[Job, Job]:
        """Prepare the runs of a pair."""
        seed = load(self.base, self.here).settings.seed + pair - 1
        plans = [
            load(replace(options, flags={**options.flags, "seed": str(seed)}), self.here)
            for options in (self.base, self.new)
        ]
        base, new = (
            prepare(replace(plan, here=folder))
            for plan, folder in zip(plans, self.folders or (self.here, self.here), strict=True)
        )
        return base, new

    def turns(self, folder: Path) -> Iterator[tuple[Turn, Turn]]:
        """Yield pairs without end, their runs in the order in which they are made."""
        for pair in count(1):
            base, new = self.jobs(pair)
            place = folder / f"pair-{pair}"
            turns = (Turn(pair, "base", base, place / "base"), Turn(pair, "new", new, place / "new"))
            yield turns if pair % 2 else (turns[1], turns[0])


def run_in_turn(  # noqa: PLR0913, PLR0917, what a comparison is made of
    series: Interleaved,
    folder: Path,
    judge: Judge,
    announce: Callable[[Turn], None],
    console: Console,
    engine: Engine = LOCAL,
) -> Iterator[tuple[Turn, list[str]]]:
    """Make the runs, each announced; yields each after it, and why it does not count (empty if it does)."""
    good_pairs, bad_pairs, pairs = 0, 0, series.turns(folder)
    while good_pairs < series.pairs and bad_pairs < series.pairs:
        turns = next(pairs)
        for turn in turns:
            if console.stop.is_set():
                return
            announce(turn)
            of_pair = RunOfSeries(
                what="pair", number=good_pairs + 1, of=series.pairs, name=turn.name, discarded=bad_pairs
            )
            result = run_job(turn.job, turn.folder, console.in_series(of_pair), engine)
            if turn is turns[1] and not console.stop.is_set():
                index(folder, turns)
            doubts = [*result.failures, *(["it was interrupted"] if result.interrupted else judge(turn.folder))]
            yield turn, doubts
            if doubts:
                bad_pairs += 1
                break
        else:
            good_pairs += 1


def index(folder: Path, turns: tuple[Turn, Turn]) -> None:
    row = {turn.name: str(turn.folder.relative_to(folder)) for turn in turns}
    with open(folder / INDEX, "a", encoding="utf-8", opener=private) as file:
        file.write(json.dumps({"pair": turns[0].pair, **row, "first": turns[0].name}) + "\n")
