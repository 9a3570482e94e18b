"""`cuesta compare --interleave`: two plans run in turn, pair by pair."""

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cuesta.analysis.comparison import Terms
from cuesta.analysis.likeness import differences, facts
from cuesta.analysis.replicate import replicate
from cuesta.cli.dry_run import duration
from cuesta.cli.interrupts import interrupts
from cuesta.engine.folder import description, run_folder
from cuesta.engine.interleaved import INDEX, Interleaved, Turn, run_in_turn
from cuesta.engine.local import Look
from cuesta.errors import CuestaError, Exit, RefusedError, UsageError
from cuesta.live import watching
from cuesta.plan import Given

PAIRS = 8
"""Unless told otherwise: 8 make whole ABBAs."""
LEAST, MOST = 7, 500
"""With fewer no change can be claimed, of two figures that are judged together or of three."""


class NoPairError(CuestaError):
    """Interrupted before there was anything to compare."""

    exit = Exit.INTERRUPTED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what only pairs have."""
    group = parser.add_argument_group("to make the runs, in pairs")
    group.add_argument("--interleave", nargs=2, type=Path, metavar=("PLAN_A", "PLAN_B"), help="run both in turn: ABBA")
    group.add_argument("--pairs", metavar="N", help=f"how many that count, at least {LEAST}; default {PAIRS}")
    group.add_argument("--out", type=Path, metavar="DIR", help="where to; by default runs/compare-DATE-TIME")
    group.add_argument("--quiet", action="store_true", help="show no progress")


@contextmanager
def pairs(arguments: argparse.Namespace, terms: Terms, step: int | None) -> Iterator[tuple[Path, bool]]:
    """Make the pairs; give their folder, and whether that was interrupted."""
    base, new = (Given(plan=plan, environment=dict(os.environ)) for plan in arguments.interleave)
    wanted = Interleaved(base, new, Path.cwd(), _number(arguments.pairs))
    _check_likeness(wanted, terms)
    _announce(wanted)
    with run_folder(arguments.out, "compare") as folder:
        with interrupts() as stopping, watching(arguments.quiet) as look:

            def announced(turn: Turn) -> Look:
                more = f" of {wanted.pairs}" if turn.pair <= wanted.pairs else ", for one that will not count"
                print(f"pair {turn.pair}{more}: {turn.name}", file=sys.stderr, flush=True)
                return look

            def judge(run: Path) -> list[str]:
                return [why] if (why := replicate(run, step).unusable) else []

            for turn, why in run_in_turn(wanted, folder, judge, announced, stopping):
                for each in why:
                    print(f"pair {turn.pair}, {turn.name}, will not count: {each}", file=sys.stderr, flush=True)
            interrupted = stopping.is_set()
        if not (folder / INDEX).exists():
            raise NoPairError("interrupted before a pair was complete", f"what was measured is in {folder}")
        yield folder, interrupted


def _number(text: str | None) -> int:
    if text is None:
        return PAIRS
    if not (text.isdigit() and LEAST <= int(text) <= MOST):
        remedy = f"figures that are judged together need {LEAST} pairs for any claim"
        raise UsageError(f"cuesta compare: --pairs: expected a number from {LEAST} to {MOST}, got {text!r}", remedy)
    return int(text)


def _check_likeness(wanted: Interleaved, terms: Terms) -> None:
    """Refuse before the first run what would be refused after the last."""
    now = datetime.now(UTC)
    base, new = (facts(description(job, now)) for job in wanted.jobs(1))
    unlike = differences(base, new)
    if unlike and not terms.despite:
        remedy = "compare like with like, or say why not: --despite REASON"
        raise RefusedError(f"the plans are unlike: {'; '.join(map(str, unlike))}", remedy)


def _announce(wanted: Interleaved) -> None:
    seconds = wanted.pairs * sum(map(duration, wanted.jobs(1)))
    takes = f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} s"
    print(f"{wanted.pairs} pairs, {2 * wanted.pairs} runs: about {takes}", file=sys.stderr)
