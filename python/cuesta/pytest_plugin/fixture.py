"""The fixture `cuesta`: measures a program as its test asks, and ends the test by what was found."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cuesta.errors import CuestaError
from cuesta.pytest_plugin.hooks import NAME, SESSION, UNSENT
from cuesta.pytest_plugin.measurement import Measurement, Outcome

if TYPE_CHECKING:
    from cuesta.pytest_plugin.measuring import Place
    from cuesta.workflow.compare_versions import Versions
    from cuesta.workflow.run_result import Run


@pytest.fixture
def cuesta(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Cuesta":
    """Measure how quick a program is to type at: `cuesta("pty:./app notes.txt")`."""
    return Cuesta(request.node, tmp_path_factory.getbasetemp())


class Cuesta:
    """Measures programs for one test."""

    def __init__(self, item: pytest.Item, temporary: Path) -> None:
        self._item = item
        self._options = item.config.stash[SESSION].options
        self._shared = temporary.parent if hasattr(item.config, "workerinput") else temporary
        """The temporary folder of all workers."""
        self._measured = 0
        """Measurements so far."""

    def __call__(self, target: str | None = None, /, **terms: Any) -> "Run":
        """Type at a target with the terms of the test's marker, of which `terms` override some.

        Returns the run that was judged, whose figures may be asserted: `run.echo.p95` in seconds. The test fails if a
        limit is crossed, if the program did not work, or if it is slower than the baseline; where that cannot be told,
        it is skipped, or what --cuesta-undecided says.
        """
        __tracebackhide__ = True
        from cuesta.pytest_plugin.measuring import measure  # noqa: PLC0415, slow, and for tests that measure
        from cuesta.pytest_plugin.terms import read_terms  # noqa: PLC0415

        given = terms if target is None else {**terms, "target": target}
        with self._name_test_in_errors():
            asked = read_terms([*self._item.iter_markers("cuesta")], given)
            run, measurement = measure(self._next_name(), asked, self._make_place(), self._options)
        self._record(measurement)
        self._end(measurement)
        return run

    def compare(self, base: str, new: str, /, **terms: Any) -> "Versions":
        """Type at two versions of a program in turn, as `cuesta compare`; the test fails if the new one is worse.

        `terms` are those of `cuesta.compare`: tape, margin, budget, figures and despite, also from the marker.
        """
        __tracebackhide__ = True
        from cuesta.pytest_plugin.versions import compare_versions, read_terms  # noqa: PLC0415, as above

        with self._name_test_in_errors():
            asked = read_terms([*self._item.iter_markers("cuesta")], terms)
            versions, measurement = compare_versions(self._next_name(), (base, new), asked, self._make_place())
        self._record(measurement)
        self._end(measurement)
        return versions

    @contextmanager
    def _name_test_in_errors(self) -> Iterator[None]:
        """Fail the test by an error of what it asked for, without a traceback."""
        __tracebackhide__ = True
        try:
            yield
        except CuestaError as error:
            from cuesta.plain_text import plain_rows  # noqa: PLC0415, as in `__call__`

            text = "\n".join(filter(None, (f"{self._item.stash[NAME]}: {error}", error.remedy)))
            raise pytest.fail.Exception(plain_rows(text), pytrace=False) from None

    def _next_name(self) -> str:
        self._measured += 1
        return self._item.stash[NAME] + self._number()

    def _number(self) -> str:
        """What tells the measurements of a test apart."""
        return f" #{self._measured}" if self._measured > 1 else ""

    def _make_place(self) -> "Place":
        from cuesta.pytest_plugin.measuring import Place  # noqa: PLC0415, as above

        return Place(self._item.path.parent, self._make_folder(), self._shared / "cuesta.turns")

    def _make_folder(self) -> Path:
        """Make a folder for the runs of one measurement."""
        from cuesta.private_files import make_private  # noqa: PLC0415, for tests that measure

        parent = self._options.out or self._shared / "cuesta"
        make_private(parent)
        name = re.sub(r"[^\w.-]+", "-", f"{self._item.path.stem}.{self._item.name}")[:80].strip("-")
        for number in count(1):
            folder = parent / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir(mode=0o700)
            except FileExistsError:
                continue
            return folder
        raise AssertionError("numbers do not end")

    def _record(self, measurement: Measurement) -> None:
        """Keep a measurement for the summary, and let JUnit's file have its figures."""
        self._item.stash.setdefault(UNSENT, []).append(measurement)
        properties = {**measurement.figures, "verdict": measurement.outcome, "page": measurement.page}
        self._item.user_properties += [(f"{name}{self._number()}", value) for name, value in properties.items()]

    def _end(self, measurement: Measurement) -> None:
        """End the test if it did not pass."""
        __tracebackhide__ = True
        endings: dict[Outcome, str] = {"failed": "fail", "cannot tell": self._options.undecided}
        ending = endings.get(measurement.outcome, "pass")
        if ending == "fail":
            pytest.fail(f"{measurement.explanation}\npage: {measurement.page}", pytrace=False)
        if ending == "skip":
            pytest.skip("; ".join(measurement.explanation.splitlines()))
