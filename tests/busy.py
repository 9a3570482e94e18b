"""Thresholds for tests that share their machine with other tests: no disturbance of the driver exceeds them.

With them "valid" says nothing about the driver, so a test that uses them asserts figures: counts, and instants
compared with the host's own log. `test_default_thresholds` tests that runs are valid under the default thresholds.
"""

BUSY = """
[validity]
lateness_p99 = "10s"
driver_cpu = 1
run_wait = 1
steal = 1
settled = false
"""
