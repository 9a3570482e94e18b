"""Queueing theory: numbers in, numbers out. Seconds and rates per second; no runs, no files, no text for people.

- `network`: stations, a closed network of them, and its solution. `closed`: solves a network by the method that fits.
- Methods for one class of users: `exact_mva` (single servers and delays), `convolution` (several servers and rates that
  depend on the queue), `schweitzer` (approximate, any number of users in the same time), `repairman` (a closed form).
- Several classes: `multi_class`.
- Bounds: `asymptotic_bounds`, `balanced_job_bounds`, `geometric_bounds`; `bounds` is what each of them returns.
- Loads that do not wait: `multi_server_queue` (M/M/m), `paced_station` (users who type at fixed instants).
- `scalability_law`: Gunther's law of throughput against users. `least_squares`: fits any of these to measured rows.
"""
