"""M/M/m: Poisson arrivals, independent of the response, at m servers.

A. K. Erlang, 1917; L. Kleinrock, Queueing Systems I, 1975, §3.5. Near saturation it is wrong for a closed load, whose
users slow down when the response grows.
"""


def response(rate: float, demand: float, servers: int) -> float:
    """Mean seconds with `rate` arrivals a second of `demand` seconds each, below saturation."""
    load = rate * demand
    if servers == 1:
        return demand / (1 - load)
    return demand + waiting(load, servers) * demand / (servers - load)


def waiting(load: float, servers: int) -> float:
    """The probability that an arrival waits (Erlang's C), by Erlang's loss formula."""
    blocked = loss(servers, load)
    return blocked / (1 - (1 - blocked) * load / servers)


def loss(servers: int, load: float) -> float:
    """Erlang's loss formula B(servers, load), by its numerically stable recursion."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = load * blocked / (n + load * blocked)
    return blocked
