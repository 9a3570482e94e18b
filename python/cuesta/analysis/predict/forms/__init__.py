"""Ways in which a response may depend on the load. One form a file, all of one shape: `form` describes it.

- `station`: one station with a demand, for closed and paced loads. `asymptote`: the same without any chance.
- `metered`: stations whose demands are those of the meters.
- `known`: no station, only what is known without a fit.
- `power`, `exponential`: curves of a paced response that no theory supports, but that rows may fit as well.
- `scalability`: Gunther's law, for six or more populations at one think time.
"""
