"""The sentence on slow keys, and which hop grew."""

from typing import Any

import pytest

from cuesta.analysis.path.explain import explain_bands, pick_parts
from cuesta.analysis.path.growth import average_means, find_growth
from cuesta.analysis.path.phrases import LABELS, describe_hop, label_hop
from cuesta.figures.path import PathBand, PathHop


def part(kind: str, task: str = "", ms: float = 1.0, of: float = 60.0, **more: Any) -> PathHop:
    details = {"pid": None, "begin": None, "call": None, "other": None, "other_pid": None, "why": None}
    return PathHop(kind=kind, task=task, seconds=ms / 1e3, share=ms / of, **(details | more))


def explain(*parts: PathHop, percentile: float = 95.0) -> str:
    whole = sum(each.seconds for each in parts)
    return explain_bands([PathBand(percentile, 9, whole, list(parts))], "an echo")


def test_the_largest_parts_are_told_until_they_are_most_of_it() -> None:
    held = part("held", "relay.py", 40.1, pid=4711, why="nagle")
    waits = part("run_queue", "sshd", 12.0, other="make", other_pid=9)
    assert explain(held, waits, part("on_cpu", "bash", 4.0), part("timer", "bash", 3.9)) == (
        "of an echo of 60.0 ms (p95), 40.1 are a packet held back by relay.py, pid 4711: it lacks TCP_NODELAY; "
        "12.0 sshd waiting for a CPU that `make` has"
    )


def test_a_short_part_has_its_own_unit() -> None:
    assert explain(part("run_queue", "sshd", 5.0, of=7), part("on_cpu", "sshd", 0.9, of=7), part("sent", "", 0.8)) == (
        "of an echo of 6.70 ms (p95), 5.00 are sshd waiting for a CPU that nobody else was seen to use: is there a CPU "
        "quota?; 900 µs sshd running"
    )


def test_what_is_quick_is_not_explained() -> None:
    assert explain(part("on_cpu", "sshd", 4.9)) == ""
    assert explain(part("on_cpu", "sshd", 50.0), percentile=50.0) == ""


def test_at_most_four_parts_are_told_and_no_tiny_ones() -> None:
    parts = [part("on_cpu", f"task{number}", 10.0, of=100) for number in range(10)]
    assert len(pick_parts(parts)) == 4
    assert len(pick_parts([part("on_cpu", "a", 30.0, of=100), part("on_cpu", "b", 1.9, of=100)])) == 1


@pytest.mark.parametrize(
    ("hop", "words"),
    [
        (part("held", "sshd", why="window"), "a packet held back by sshd: the client's window was full"),
        (part("held"), "a packet held back: TCP did not send it at once"),
        (part("run_queue", "python3", other="python3"), "python3 waiting for a CPU that another `python3` has"),
        (part("timer", "relay.py", call="epoll_wait"), "a timer in relay.py (epoll_wait)"),
        (
            part("sleeping", "bash", call="flock", other="git", other_pid=12),
            "bash waiting in flock for `git`, pid 12",
        ),
        (part("sleeping", "bash"), "bash waiting for a device"),
        (part("disk", "vim", call="fsync"), "vim waiting for a disk (fsync)"),
        (part("others_keys", "relay.py"), "relay.py busy with other users' keys"),
        (part("worker_queue", "kworker"), "waiting for the terminal's worker"),
        (part("on_cpu", "kworker"), "the kernel's worker running"),
        (part("waking", "sshd"), "an idle CPU waking up for sshd"),
        (part("outside"), "network and client"),
        (part("unclosed"), "in no hop"),
        (part("a_new_kind", "sshd"), "sshd a new kind"),
    ],
)
def test_each_kind_has_its_words(hop: PathHop, words: str) -> None:
    assert describe_hop(hop) == words


def test_every_kind_has_a_label() -> None:
    assert label_hop("worker_queue", "kworker") == "terminal's worker"
    assert label_hop("run_queue", "sshd") == "sshd waiting for a CPU"
    assert len(set(LABELS.values())) == len(LABELS)


QUEUE, CPU = ("run_queue", "sshd"), ("on_cpu", "bash")


def test_the_hop_that_grew_most_is_named() -> None:
    growth = find_growth({QUEUE: 0.0002, CPU: 0.001}, {QUEUE: 0.0123, CPU: 0.002, ("timer", "x"): 0.001})
    assert str(growth) == "sshd waiting for a CPU, from 200 µs to 12.3 ms a key"
    assert find_growth({CPU: 0.001}, {CPU: 0.001, QUEUE: 0.00001}) is None
    assert find_growth({CPU: 0.002}, {CPU: 0.001}) is None
    assert find_growth({}, {QUEUE: 1.0}) is None


def test_several_runs_are_averaged_where_they_followed_keys() -> None:
    assert average_means([{QUEUE: 0.002}, {}, {QUEUE: 0.004, CPU: 0.001}]) == {
        QUEUE: pytest.approx(0.003),
        CPU: pytest.approx(0.0005),
    }
    assert average_means([{}, {}]) == {}
