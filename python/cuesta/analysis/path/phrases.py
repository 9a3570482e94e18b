"""Hops in words: a label for each kind, and a phrase that says what one stands for."""

from collections.abc import Callable

from cuesta.analysis.path.followed_key import WORKER
from cuesta.figures.path import PathHop

LABELS = {
    "network_stack": "network stack",
    "run_queue": "waiting for a CPU",
    "waking": "CPU waking up",
    "on_cpu": "on a CPU",
    "worker_queue": "terminal's worker",
    "timer": "timer",
    "disk": "disk",
    "sleeping": "sleeping",
    "others_keys": "others' keys",
    "held": "held by TCP",
    "sent": "sent",
    "beyond": "another machine",
    "outside": "network and client",
    "unclosed": "not attributed",
}
"""Kinds of hops, for people; in the order in which stacks show them."""
HELD = {
    "nagle": "it lacks TCP_NODELAY",
    "cork": "its socket is corked",
    "window": "the client's window was full",
    "congestion": "the congestion window was full",
}
THE_WORKER = "the kernel's worker"


def label_hop(kind: str, task: str) -> str:
    """`sshd waiting for a CPU`."""
    label = LABELS.get(kind, kind.replace("_", " "))
    if not task or (task == WORKER and kind == "worker_queue"):
        return label
    return f"{label} for {task}" if kind == "waking" else f"{name_task(task)} {label}"


def name_task(task: str) -> str:
    return THE_WORKER if task == WORKER else task or "a task"


def describe_hop(hop: PathHop) -> str:
    """What a part of a key's time is, as it follows `40.1 ms are`."""
    describe = DESCRIBED.get(hop.kind)
    return describe(hop) if describe else label_hop(hop.kind, hop.task)


def describe_held(hop: PathHop) -> str:
    by = f" by {name_with_number(hop)}" if hop.task else ""
    return f"a packet held back{by}: {HELD.get(hop.why or '', 'TCP did not send it at once')}"


def describe_run_queue(hop: PathHop) -> str:
    if hop.why == "quota":
        return f"{name_task(hop.task)} kept from a CPU by its CPU quota"
    waits = f"{name_task(hop.task)} waiting for a CPU"
    if hop.other is None:
        return f"{waits} that nobody else was seen to use: is there a CPU quota?"
    return f"{waits} that {'another ' * (hop.other == hop.task)}`{hop.other}` has"


def describe_sleeping(hop: PathHop) -> str:
    waits = f"{name_task(hop.task)} waiting{f' in {hop.call}' if hop.call else ''}"
    number = f", pid {hop.other_pid}" if hop.other_pid else ""
    return f"{waits} for `{hop.other}`{number}" if hop.other else f"{waits} until a device or the network wakes it"


def describe_timer(hop: PathHop) -> str:
    return f"a timer in {name_with_number(hop)}{place_call(hop)}"


def describe_disk(hop: PathHop) -> str:
    return f"{name_task(hop.task)} waiting for a disk{place_call(hop)}"


def place_call(hop: PathHop) -> str:
    return f" ({hop.call})" if hop.call else ""


def name_with_number(hop: PathHop) -> str:
    return f"{name_task(hop.task)}, pid {hop.pid}" if hop.pid else name_task(hop.task)


DESCRIBED: dict[str, Callable[[PathHop], str]] = {
    "held": describe_held,
    "run_queue": describe_run_queue,
    "sleeping": describe_sleeping,
    "timer": describe_timer,
    "disk": describe_disk,
    "others_keys": lambda hop: f"{name_task(hop.task)} busy with other users' keys",
    "worker_queue": lambda _: "waiting for the terminal's worker",
    "waking": lambda hop: f"an idle CPU waking up for {name_task(hop.task)}",
    "on_cpu": lambda hop: f"{name_task(hop.task)} running",
    "network_stack": lambda _: "the host's network stack",
    "sent": lambda _: "the way down the network stack",
    "beyond": lambda hop: f"another machine, {hop.other}",
    "outside": lambda _: "network and client",
    "unclosed": lambda _: "in no hop",
}
