"""Whether echoes follow when the driver acknowledges: found where Nagle's algorithm holds them, nowhere else."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from cuesta.analysis.delayed_ack import LEVEL, HeldEcho, ProbeEcho, find_held_echoes

Host = Callable[[random.Random, int], float]
"""The echo of the n-th key, in seconds, whatever the driver acknowledges."""
HOSTS: dict[str, Host] = {
    "slow": lambda rng, _: rng.lognormvariate(-3.0, 0.8),
    "bimodal": lambda rng, _: rng.choice((0.0003, 0.0003, 0.043)) + rng.expovariate(5000),
    "bimodal by half": lambda rng, _: rng.choice((0.0003, 0.043)) + rng.expovariate(5000),
    "batching": lambda rng, _: 0.04 + rng.expovariate(3000),
    "batching by a clock": lambda rng, _: rng.uniform(0.0, 0.08),
    "slow for a while": lambda rng, key: 0.0004 + 0.043 * (30 <= key % 80 < 70) + rng.expovariate(5000),
    "of few values": lambda rng, _: rng.choice((0.001, 0.041)),
    "drifting": lambda rng, key: 0.001 * key + rng.expovariate(100),
}


def echo_keys(host: Host, seed: int, keys: int = 160, held: float = 0.0) -> list[ProbeEcho]:
    """Echoes of a host that writes in pieces; `held`: how much longer one takes whose acknowledgement is put off."""
    rng = random.Random(seed)
    echoes = []
    for key in range(keys):
        at_once = rng.random() > 0.25
        seconds = host(rng, key) + held * (not at_once)
        echoes.append(ProbeEcho("g", at_once, seconds, min(seconds, 0.0003), segments=2, acknowledgements=1))
    return echoes


def test_200_hosts_that_hold_nothing_give_no_more_false_alarms_than_the_level() -> None:
    kinds = list(HOSTS.values())
    hosts = [echo_keys(kinds[seed % len(kinds)], seed) for seed in range(200)]
    alarms = {level: sum(bool(find_held_echoes(echoes, level)) for echoes in hosts) for level in (LEVEL, 0.05, 1.0)}
    # Of 0.2 expected, over 2 come with a chance of 0.1 %; of 10, over 20.
    assert alarms[LEVEL] <= 2
    assert alarms[0.05] <= 20
    assert alarms[1.0] > 2, "some look like it, but for the test by ranks"


@pytest.mark.parametrize("name", ["slow", "batching", "drifting"])
def test_a_held_echo_is_found_at_a_host_that_is_slow_besides(name: str) -> None:
    quick: Host = lambda rng, key: HOSTS[name](rng, key) / 10  # noqa: E731, a host
    (held,) = find_held_echoes(echo_keys(quick, seed=1, held=0.043))
    assert held.group == "g"
    assert held.seconds == pytest.approx(0.043, abs=0.006)


def test_nothing_is_said_without_evidence() -> None:
    host: Host = lambda rng, _: 0.0003 + rng.expovariate(5000)  # noqa: E731, a host
    held = echo_keys(host, seed=2, held=0.043)
    assert len(find_held_echoes(held)) == 1
    few = [echo for echo in held if echo.at_once] + [echo for echo in held if not echo.at_once][:19]
    doubts = {
        "too few keys": few,
        "one segment": [replace(echo, segments=1) for echo in held],
        "no acknowledgement": [replace(echo, acknowledgements=0) for echo in held],
        "nothing came early": [replace(echo, first=echo.seconds) for echo in held],
        "too little": echo_keys(host, seed=2, held=0.02),
        "too much": echo_keys(host, seed=2, held=0.2),
        "the other way round": [replace(echo, at_once=not echo.at_once) for echo in held],
    }
    assert [name for name, echoes in doubts.items() if find_held_echoes(echoes)] == []


def test_each_group_is_judged_by_itself() -> None:
    host: Host = lambda rng, _: 0.0003 + rng.expovariate(5000)  # noqa: E731, a host
    free = [replace(echo, group="free") for echo in echo_keys(host, seed=3)]
    found = find_held_echoes([*free, *echo_keys(host, seed=4, held=0.043)])
    assert [type(each) for each in found] == [HeldEcho]
    assert found[0].group == "g"
