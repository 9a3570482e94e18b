"""The pytest plugin: a test types at a program, and fails if that became slow (docs/pytest.md).

It is loaded by every pytest of an environment that has Cuesta, so that modules here import what is slow when a test
measures. Terms of a test → runs → a judgement → the test's outcome; with xdist, each test's measurements travel with
its report to the controller, which alone writes files and the summary.
PYTEST_DONT_REWRITE: no assertion of a test stands here.

- `hooks`: what pytest calls. `options`: the flags. `fixture`: the fixture `cuesta`. `session`: what a session leaves.
- `terms`: what a test asks for: its marker's and its call's settings.
- `measuring`: makes a test's runs, one at a time over all workers. `versions`: compares two versions of a program.
- `judging`: whether a test passes, fails, or cannot tell, and why.
- `baselines`: the file of earlier figures, with which runs are compared.
- `measurement`: what is known of a measurement afterwards, as plain data, with figures from `run_figures`. `listing`:
  its row in pytest's summary.
- `exports`: files for other tools: pytest-benchmark's JSON and Bencher's metrics.
"""

from cuesta.pytest_plugin.fixture import Cuesta, cuesta
from cuesta.pytest_plugin.hooks import (
    pytest_addoption,
    pytest_configure,
    pytest_itemcollected,
    pytest_runtest_makereport,
)

__all__ = [
    "Cuesta",
    "cuesta",
    "pytest_addoption",
    "pytest_configure",
    "pytest_itemcollected",
    "pytest_runtest_makereport",
]
