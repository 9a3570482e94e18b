"""The plugin's part of a session: collects measurements, writes files and the summary at the end.

With xdist the controller does it: reports of all tests come to it.
"""

from pathlib import Path

import pytest

from cuesta.errors import CuestaError
from cuesta.pytest_plugin.measurement import Measurement
from cuesta.pytest_plugin.options import Options
from cuesta.units import many


class Session:
    """Registered as a plugin of its own, for hooks that are not told of which session they are."""

    def __init__(self, options: Options, *, is_worker: bool) -> None:
        self.options = options
        self._is_worker = is_worker
        self._measurements: dict[str, Measurement] = {}
        """By name: of a test that ran twice, the last."""
        self._files: list[str] = []
        """What became of the files that were asked for, a sentence each."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for row in getattr(report, "cuesta", ()):
            measurement = Measurement(**row)
            self._measurements[measurement.name] = measurement

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the files that were asked for. A file that cannot be written fails the session."""
        if self._is_worker:
            return
        for write, file in (
            (self._write_baseline, self.options.baseline if self.options.update else None),
            (self._write_benchmarks, self.options.benchmark_json),
            (self._write_metrics, self.options.bencher),
        ):
            if file is None:
                continue
            try:
                self._files.append(f"{write(file)} written to {file}")
                continue
            except OSError as error:
                self._files.append(f"{file}: cannot be written: {error.strerror or error}")
            except CuestaError as error:
                self._files.append(str(error))
            session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if not (self._measurements or self._files):
            return
        from cuesta.plain_text import plain  # noqa: PLC0415, for sessions that measure
        from cuesta.pytest_plugin.listing import list_rows  # noqa: PLC0415

        verbosity, columns = terminalreporter.config.get_verbosity(), terminalreporter._tw.fullwidth
        rows = [*list_rows([*self._measurements.values()], verbosity, columns), *map(plain, self._files)]
        if rows:
            terminalreporter.ensure_newline()
            terminalreporter.section("cuesta")
        for row in rows:
            terminalreporter.write_line(row)

    def _write_baseline(self, file: Path) -> str:
        from cuesta.analysis.compare.stored_side import StoredSide  # noqa: PLC0415, for sessions that measure
        from cuesta.pytest_plugin.baselines import write_entries  # noqa: PLC0415

        stored = {name: StoredSide(**each.stored) for name, each in self._measurements.items() if each.stored}
        write_entries(file, stored)
        return f"baseline of {many(len(stored), 'test')}"

    def _write_benchmarks(self, file: Path) -> str:
        from cuesta.pytest_plugin.exports import write_benchmarks  # noqa: PLC0415, for sessions that measure

        write_benchmarks(file, [*self._measurements.values()])
        return "pytest-benchmark's JSON"

    def _write_metrics(self, file: Path) -> str:
        from cuesta.pytest_plugin.exports import write_metrics  # noqa: PLC0415, for sessions that measure

        write_metrics(file, [*self._measurements.values()])
        return "Bencher's metrics"
