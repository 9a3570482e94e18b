"""Ways in which a response may depend on the load, one form a file; `form` is their interface.

- `station`: one station with a fitted demand. `asymptote`: the asymptotic bounds of one station.
- `metered`: stations with metered demands.
- `known`: a known delay, without a station.
- `curves`: a power and an exponential, which no theory supports, but which rows of a paced load may fit as well.
- `scalability`: Gunther's law, for six or more populations at one think time.
"""
