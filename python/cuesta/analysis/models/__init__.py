"""Queueing theory: numbers in, numbers out. Seconds and rates per second; no runs, no files, no text for people.

- `network`: stations, a closed network of them, and its solution. `closed`: solves a network by the method that fits.
- Its methods: `exact_mva` (single servers and delays), `convolution` (several servers, load-dependent rates).
- `fixed_service`: one server of deterministic services, closed and open. `asymptotic_bounds`: those of any network.
- Open loads: `multi_server_queue` (M/M/m), `paced_station` (inputs at fixed instants).
- `scalability_law`: Gunther's law of throughput against users. `least_squares`: fits any of these to measured rows.
"""
