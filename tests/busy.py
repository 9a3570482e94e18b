"""What a plan of a test says of validity where the machine may be busy: what is tested there is not how fast it is."""

BUSY = """
[validity]
lateness_p99 = "10s"
driver_cpu = 1
run_wait = 1
steal = 1
settled = false
"""
