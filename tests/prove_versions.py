"""The proof of `cuesta compare TARGET TARGET` with a real program: how often versions that differ by so much are told.

`python -m tests.prove_versions --times 20 --echo 30 --slower 0` compares a version twenty times with itself. Each row
is one comparison; the last rows count the verdicts. With all defaults it takes four to six hours.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import cuesta
from cuesta.terminal import inform
from cuesta.workflow.compare_versions import Versions

PROGRAM = Path(__file__).parent / "programs" / "set_delay.py"


@dataclass(frozen=True)
class Case:
    """Two versions of the program."""

    milliseconds: float
    """The delay of a key in the base version."""
    slower: float
    """By how much that of the new version is longer, as a share."""
    sleeps: bool = False

    def __str__(self) -> str:
        return f"{self.milliseconds:g} ms, {100 * self.slower:+g} %"

    def compare(self, out: Path, budget: str, margin: str = "5%") -> Versions:
        base, new = (self.target(delay) for delay in (self.milliseconds, self.milliseconds * (1 + self.slower)))
        return cuesta.compare_versions(base, new, budget=budget, margin=margin, out=out)

    def target(self, milliseconds: float) -> str:
        return f"pty:{sys.executable} {PROGRAM} {milliseconds:g}{' --sleep' if self.sleeps else ''}"


def prove(cases: list[Case], times: int, budget: str, folder: Path) -> Iterator[tuple[Case, Versions]]:
    """Compare the cases in turn, each `times` times."""
    for number, case in product(range(times), cases):
        yield case, case.compare(folder / f"{number}-{cases.index(case)}", budget)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--echo", default="4,30,150", help="milliseconds")
    parser.add_argument("--slower", default="0,5,10,20", help="percent")
    parser.add_argument("--times", type=int, default=10)
    parser.add_argument("--budget", default="3m")
    parser.add_argument("--sleep", action="store_true", help="the program sleeps for its delay instead of working")
    parser.add_argument("--out", type=Path, help="keep the folders here")
    arguments = parser.parse_args()
    echoes, slower = ([float(each) for each in text.split(",")] for text in (arguments.echo, arguments.slower))
    cases = [Case(echo, share / 100, arguments.sleep) for echo, share in product(echoes, slower)]
    verdicts: dict[Case, Counter[str]] = {case: Counter() for case in cases}
    with TemporaryDirectory() as temporary:
        for case, compared in prove(cases, arguments.times, arguments.budget, arguments.out or Path(temporary)):
            verdicts[case][compared.verdict] += 1
            spread = compared.figures["echo.p50"].spread if compared.figures else None
            pairs, repeated = compared.result.pairs, len(compared.record.spoilt)
            inform(f"{case}: {pairs} pairs, {repeated} repeated, spread {spread}: {compared.sentence}")
    for case, counted in verdicts.items():
        inform(f"{case}: {', '.join(f'{verdict} {number}' for verdict, number in counted.items())}")


if __name__ == "__main__":
    main()
