"""Queueing theory: numbers in, numbers out. Seconds and rates per second; no runs, no files, no text for people.

- `network`: stations, and a closed network of them with its asymptotic bounds. `closed`: its exact mean response, by
  `convolution`, or by `fixed_service`: one server of deterministic services, closed and open.
- Open loads: `multi_server_queue` (M/M/m), `paced_station` (inputs at fixed instants).
- `least_squares`: fits any of these to measured rows.
"""
