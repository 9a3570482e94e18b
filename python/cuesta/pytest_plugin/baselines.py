"""The baseline: a JSON file with the runs of each test, by node id, and for each machine that measured it.

A test is compared with the entry of its own machine. Where there is none, the comparison with another machine's is
refused, and says in what they differ.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter, ValidationError

from cuesta.analysis.compare.comparability import collect_facts, list_differences
from cuesta.analysis.compare.sides import ComparedRun, extract_figures
from cuesta.analysis.compare.stored_side import StoredSide, restore_side
from cuesta.errors import InputError
from cuesta.foreign_files import TooLongError, read_text
from cuesta.machine import facts
from cuesta.private_files import replace_json
from cuesta.validation import describe_problem
from cuesta.workflow.run_result import Run

REMEDY = "delete the file if it is a baseline: --cuesta-update then writes a new one"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the file holds."""

    format: Literal[1]
    tests: dict[str, list[StoredSide]]
    """By test: the runs of each machine."""


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine, as baselines know it."""

    name: str | None
    """What stands for its host's name, by which machines are told apart."""

    def facts(self) -> dict[str, object]:
        return self.rename(collect_facts({"machine": facts()}))["machine"]

    def rename(self, of_run: Mapping[str, Mapping[str, object]]) -> dict[str, dict[str, object]]:
        """The facts of a run, with the name of the machine."""
        all_facts = {kind: dict(of_kind) for kind, of_kind in of_run.items()}
        if self.name is not None:
            all_facts["machine"]["id"] = self.name
        return all_facts

    def read_run(self, run: Run) -> ComparedRun:
        """A run as it is compared."""
        compared = extract_figures(run.folder, run.summary)
        return replace(compared, facts=self.rename(compared.facts))


def read_baseline(file: Path) -> Baseline:
    """Read the file; without a file there are no entries. Raises InputError."""
    if not file.exists():
        return Baseline(1, {})
    try:
        baseline = TypeAdapter(Baseline).validate_json(read_text(file))
        for entries in baseline.tests.values():
            for entry in entries:
                restore_side(entry, "baseline")
    except ValidationError as error:
        first = error.errors()[0]
        place = "".join(f"{each}: " for each in (".".join(map(str, first["loc"])),) if each)
        raise InputError(f"{file}: {place}{describe_problem(first)}", REMEDY) from None
    except (OSError, TooLongError, ValueError) as error:
        raise InputError(f"{file}: {error}", REMEDY) from None
    return baseline


def find_entry(baseline: Baseline, test: str, machine: Mapping[str, object]) -> StoredSide | None:
    """The entry of a test whose machine is this one, or else is most like it."""
    entries = baseline.tests.get(test, [])
    return min(entries, key=lambda entry: count_differences(entry, machine), default=None)


def count_differences(entry: StoredSide, machine: Mapping[str, object]) -> int:
    return len(list_differences({"machine": entry.facts.get("machine", {})}, {"machine": machine}, ["machine"]))


def write_entries(file: Path, new: Mapping[str, StoredSide]) -> None:
    """Write runs of this machine into the file, in place of its earlier ones; other entries stay. Raises OSError."""
    tests = dict(read_baseline(file).tests)
    for test, entry in new.items():
        machine = entry.facts["machine"]
        others = [each for each in tests.get(test, []) if count_differences(each, machine)]
        tests[test] = [*others, entry]
    file.parent.mkdir(parents=True, exist_ok=True)
    replace_json(file, asdict(Baseline(1, dict(sorted(tests.items())))))
