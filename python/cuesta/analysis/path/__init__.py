"""Where a key's time goes: joins the driver's keys with their paths through the host, and says what the slow ones wait
for (docs/path.md).

- `ranges`: ranges of TCP streams, whose offsets are modulo 2^32. `join`: which path belongs to which key;
  `behind`: and at a host that another one passed it on to.
- `followed_key`: a key with its path, hop by hop; `composition`: what keys have in common: sums by kind, the usual
  chain, what is around a percentile.
- `login`: the rounds of a login; `price`: what following a key costs it.
- `derive`: the figures of a step. `phrases`: hops in words; `explain`: the sentence on the slow keys; `growth`: which
  hop grew between two loads or sides of runs.

Other files import `derive_paths`, and what `phrases`, `explain` and `growth` say of figures.
"""
