"""Runs of two plans in turn: A B, B A, A B, B A, … so that drift affects both alike.

The runs of a pair have one seed: the same users type the same keys at the same due times on both sides. The next pair
has the next seed. A pair is in the index (docs/compare.md) when both of its runs have ended; a run that was cut off
stays on disk. A pair that does not count is repeated; at most as many as were asked for may be lost. The caller judges
what a run is worth.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal

from cuesta.engine.certifier import Judge
from cuesta.engine.job import Job, prepare
from cuesta.engine.local import Look, run
from cuesta.plan import RawOptions, load

INDEX = "pairs.jsonl"
Name = Literal["base", "new"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One run of one pair."""

    pair: int
    """From 1."""
    name: Name
    job: Job
    folder: Path


@dataclass(frozen=True, slots=True)
class Interleaved:
    """Pairs of runs to be made."""

    base: RawOptions
    new: RawOptions
    here: Path
    """Folder that relative paths of flags and cuesta.toml start from."""
    pairs: int
    """Pairs that count."""

    def jobs(self, pair: int) -> tuple[Job, Job]:
        """Prepare the runs of a pair."""
        seed = load(self.base, self.here).settings.seed + pair - 1
        base, new = (
            prepare(load(replace(given, flags={**given.flags, "seed": str(seed)}), self.here))
            for given in (self.base, self.new)
        )
        return base, new

    def turns(self, folder: Path) -> Iterator[tuple[Turn, Turn]]:
        """Yield pairs without end, their runs in the order in which they are made."""
        for pair in count(1):
            base, new = self.jobs(pair)
            place = folder / f"pair-{pair}"
            turns = (Turn(pair, "base", base, place / "base"), Turn(pair, "new", new, place / "new"))
            yield turns if pair % 2 else (turns[1], turns[0])


def run_in_turn(
    wanted: Interleaved, folder: Path, judge: Judge, look: Callable[[Turn], Look], stopping: threading.Event
) -> Iterator[tuple[Turn, list[str]]]:
    """Make the runs; yields each as it ends, with why it does not count. Setting `stopping` ends it."""
    counted, lost, pairs = 0, 0, wanted.turns(folder)
    while counted < wanted.pairs and lost < wanted.pairs:
        turns = next(pairs)
        why = list[str]()
        for turn in turns:
            if stopping.is_set():
                return
            ran = run(turn.job, turn.folder, look(turn), stopping)
            if turn is turns[1] and not stopping.is_set():
                index(folder, turns)
            found = [*ran.failures, *(["it was interrupted"] if ran.interrupted else judge(turn.folder))]
            why += found
            yield turn, found
        counted, lost = (counted, lost + 1) if why else (counted + 1, lost)


def index(folder: Path, turns: tuple[Turn, Turn]) -> None:
    row = {turn.name: str(turn.folder.relative_to(folder)) for turn in turns}
    with (folder / INDEX).open("a", encoding="utf-8") as file:
        file.write(json.dumps({"pair": turns[0].pair, **row, "first": turns[0].name}) + "\n")
