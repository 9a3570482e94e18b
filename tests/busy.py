"""Thresholds for tests that share their machine with other tests: they allow every disturbance of the driver.

Under these a run's "valid" says nothing of the driver, so a test that uses them asserts figures: counts, and instants
against the host's own log. That runs are valid under the thresholds that users get, `test_default_thresholds` shows.
"""

BUSY = """
[validity]
lateness_p99 = "10s"
driver_cpu = 1
run_wait = 1
steal = 1
settled = false
"""
