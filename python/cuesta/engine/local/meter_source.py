"""Which meters a run reads, and how certain their figures are: `--meters WHERE`, resolved for one segment.

`auto` is this machine when the target is: the built-in host's process, the programs on the driver's own terminals, or
the process that listens at a loopback address. Other machines are metered over ssh or by their node_exporter.
"""

import shlex
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import parse_qs, urlsplit

from cuesta import _native
from cuesta.engine.local.listener import listener
from cuesta.engine.local.meter_process import MeterRequest
from cuesta.line_kinds import OWN_PROGRAMS, port_of, without_settings
from cuesta.module_command import module_command
from cuesta.plan.meter_places import list_hosts, tier_and_subject, tracing_tier
from cuesta.records.rows import MeterAbout
from cuesta.target import BUILTIN_HOST, kind_of, without_passwords

HERE = module_command("cuesta.engine.local.meter_process")
"""Our own metering process."""
TRACED: Mapping[str, Literal["light", "full"]] = {"exact": "light", "calls": "full"}
"""Tiers that trace the kernel: the light tracer, and the one that makes each system call dearer."""
OF_CPUS = ("machine", "cpus:")
"""Subjects that are all tasks of some CPUs, not processes."""
OF_HOST = "cpus:host"
"""The subject that is everything on the built-in host's CPUs."""
ALIVE = 5
"""Seconds of silence after which ssh asks whether the other end is there. It ends if three are not answered."""
LOOPBACK = (
    "driver and host share this machine over its loopback: what the kernel does to receive runs in the sender's "
    "context: the network's part of a side's CPU time may be the other's, and is shown apart"
)


@dataclass(frozen=True, slots=True)
class Attribution:
    """How certainly CPU time is the host's in an arrangement of driver and host (docs/meters.md)."""

    sentence: str
    level: int | None = None
    """1, the most certain, to 4; None without a network between them."""


APART = Attribution("the host is on another machine: its CPU is its own", 1)
ISOLATED = Attribution(
    "driver and host share this machine, isolated: each has CPUs and a network of its own, and receives on these CPUs: "
    "what a CPU did counts as its side's, other programs' work too; a process's CPU time may lack receiving for it, "
    "and have receiving for others",
    2,
)
PINNED = Attribution(f"{LOOPBACK}; they are pinned to CPUs of their own", 3)
UNPINNED = Attribution(
    f"{LOOPBACK}; they are not pinned (--pin, or as root --isolate), and take CPU from one another", 4
)
ONE_PINNED = Attribution(
    f"{LOOPBACK}; --pin placed the driver, but not a host that it did not start: they may take CPU from one another",
    4,
)
MACHINE = "machine"
OWN_PROGRAM = "driver and host share this machine through {}: either CPU time is its own, but they compete"


@dataclass(frozen=True, slots=True)
class MeterSource:
    """Where the host is metered, and how certain that is."""

    command: Sequence[str] | None
    """The metering process; None if there is none."""
    source: str
    """`here`, `ssh`, `node_exporter` or `none`."""
    subject: str
    why: str
    """Why this subject; or why nothing is metered."""
    attribution: Attribution
    request: MeterRequest | None = None
    """The request to the process."""
    name: str = ""
    """The host's name, where several are metered."""

    @property
    def whole_machine(self) -> bool:
        """Whether the subject is the whole machine."""
        return self.request is not None and self.request.subject == MACHINE

    @property
    def about(self) -> MeterAbout:
        """Its record; `honesty` and `order` are the attribution's sentence and level."""
        return MeterAbout(
            source=self.source,
            subject=self.subject,
            whole_machine=self.whole_machine,
            why=self.why,
            honesty=self.attribution.sentence,
            order=self.attribution.level,
        )


@dataclass(frozen=True, slots=True)
class SegmentFacts:
    """The facts of a segment that decide its meters."""

    targets: Sequence[str]
    host: int | None
    """Process of the built-in host."""
    host_cpus: Sequence[int] | None
    """CPUs that it is pinned to."""
    agents: Sequence[int]
    """Processes of the driver on this machine."""
    isolated: bool = False
    """Whether either side has a network of its own."""
    apart: bool = False
    """Whether the driver is on other machines."""
    followed: bool = False
    """Whether keys of probe lines are followed through the host."""


def choose_sources(meters: str, facts: SegmentFacts, every: float | None = None) -> list[MeterSource]:
    """Resolve a value of --meters: a source for each host."""
    hosts = list_hosts(meters)
    names = [host.name if len(hosts) > 1 else "" for host in hosts]
    return [
        replace(choose_source(host.where, facts, every), name=name) for host, name in zip(hosts, names, strict=True)
    ]


def choose_source(where: str, facts: SegmentFacts, every: float | None = None) -> MeterSource:
    """Resolve WHERE with its tracers and its period; the default is a second."""
    tier, subject = tier_and_subject(where)
    source = resolve_untraced(name_cpus(subject, facts), facts)
    if source.request is None:
        return source
    request = add_tracing(source.request, TRACED[tier]) if tier else source.request
    request = replace(request, follow=choose_followed(source, facts))
    return replace(source, request=replace(request, every=every or request.every))


def choose_followed(source: MeterSource, facts: SegmentFacts) -> str | None:
    """Whose keys a host's meters follow; None if none, as where its counters are read over HTTP."""
    if not facts.followed or source.source == "node_exporter":
        return None
    if source.request and source.request.follow:
        return source.request.follow
    is_here = source.source == "here" and any(kind(target, facts) == "programs" for target in facts.targets)
    return "terminals" if is_here else "connections"


def name_cpus(subject: str, facts: SegmentFacts) -> str:
    """Name the CPUs of `cpus:host`."""
    return f"cpus:{','.join(map(str, facts.host_cpus))}" if subject == OF_HOST and facts.host_cpus else subject


def add_tracing(request: MeterRequest, depth: Literal["light", "full"]) -> MeterRequest:
    """Ask for tracing too; the full tracer replaces the sampler."""
    sampled = depth == "light"
    return replace(request, traced=depth, sampled=sampled, stacks=request.stacks and sampled)


def why_untraced(meters: str) -> str | None:
    """Why the tier that the meters of a host ask for is not available here, if that is known before the start.

    None if it is available, if none is asked for, or if another machine decides.
    """
    hosts = list_hosts(meters)
    reasons = {host.name: why for host in hosts if (why := why_untraced_here(host.where))}
    return "; ".join(f"{name}: {why}" if len(hosts) > 1 else why for name, why in reasons.items()) or None


def why_untraced_here(where: str) -> str | None:
    if tracing_tier(where) is None or where.startswith("ssh:"):
        return None
    return _native.why_untraced(of_processes=not tier_and_subject(where)[1].startswith(OF_CPUS))


def resolve_untraced(where: str, facts: SegmentFacts) -> MeterSource:
    """Resolve WHERE without its tracers."""
    if where == "none":
        return no_source("--meters none")
    if where.startswith("ssh:"):
        return over_ssh(where, facts)
    if where.startswith(("http:", "https:")):
        level = attribution(facts, not is_here(host_of(where)))
        return MeterSource(HERE, "node_exporter", without_passwords(where), "as asked for", level, MeterRequest(where))
    if where not in ("auto", "plain"):
        return here(where, "as asked for", facts)
    source = find_host(facts)
    if where == "plain" and source.request:
        return replace(source, request=replace(source.request, sampled=False, stacks=False))
    return source


def no_source(why: str) -> MeterSource:
    return MeterSource(None, "none", "nothing", why, Attribution(""))


def find_host(facts: SegmentFacts) -> MeterSource:
    """Find the host on this machine."""
    kinds = {kind(target, facts) for target in facts.targets}
    if kinds == {"elsewhere"}:
        remedy = "meter it with --meters ssh://HOST or --meters http://HOST:9100/metrics"
        return no_source(f"the target is not on this machine: {remedy}")
    if kinds == {"built-in"}:
        return here(f"pid:{facts.host}", "the built-in host's process", facts)
    if kinds == {"programs"}:
        children = f"children:{','.join(map(str, facts.agents))}"
        return here(children, f"the programs on the driver's {name_attachment(facts)}", facts)
    if kinds == {"listening"}:
        listeners = {listener(port_of(target)) for target in facts.targets}
        if len(listeners) == 1 and (pid := listeners.pop()):
            at = ", ".join(map(without_settings, facts.targets))
            return here(f"pid:{pid}", f"the process that listens at {at}", facts)
        return here("machine", "who listens there could not be found: this is the whole machine", facts)
    return here("machine", "targets of several kinds: this is the whole machine, the driver included", facts)


def kind(target: str, facts: SegmentFacts) -> str:
    if target == BUILTIN_HOST and facts.host:
        return "built-in"
    if kind_of(target) in OWN_PROGRAMS:
        return "programs" if facts.agents else "elsewhere"
    host = urlsplit(target).hostname
    return "listening" if host and is_here(host) and facts.agents else "elsewhere"


def name_attachment(facts: SegmentFacts) -> str:
    """How the driver connects to the programs that it starts itself."""
    kinds = set(map(kind_of, facts.targets))
    return "pipes" if kinds == {"pipe"} else "terminals and pipes" if "pipe" in kinds else "terminals"


def is_here(host: str) -> bool:
    """Whether a name is this machine's: a socket can be bound to its address."""
    try:
        (family, type_, protocol, _, address), *_ = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)
        with socket.socket(family, type_, protocol) as probe:
            probe.bind(address)
    except OSError:
        return False
    return True


def here(subject: str, why: str, facts: SegmentFacts) -> MeterSource:
    cpus = facts.host_cpus if subject == f"pid:{facts.host}" else None
    request = MeterRequest(subject, cpus, stacks=True)
    return MeterSource(HERE, "here", subject, why, attribution(facts, elsewhere=False), request)


def over_ssh(where: str, facts: SegmentFacts) -> MeterSource:
    """Run `cuesta meters stream` on another machine: `ssh://USER@HOST:PORT?subject=pid:7&tier=exact&identity=FILE`.

    With `from=ADDRESS` keys are followed that a bastion passes on from there.
    """
    parts = urlsplit(where)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    subject = query.get("subject", MACHINE)
    command = ["ssh", "-T", "-o", "BatchMode=yes", "-o", f"ServerAliveInterval={ALIVE}"]
    command += ["-p", str(parts.port)] if parts.port else []
    command += ["-l", parts.username] if parts.username else []
    command += ["-i", query["identity"]] if "identity" in query else []
    match query.get("known_hosts"):
        case None:
            pass
        case "accept-new":
            command += ["-o", "StrictHostKeyChecking=accept-new"]
        case file:
            command += ["-o", f"UserKnownHostsFile={file}"]
    command += ["--", parts.hostname or "", shlex.join([query.get("command", "cuesta"), "meters", "stream"])]
    request = MeterRequest(subject, stacks=True, follow=query.get("from"))
    traced = TRACED.get(query.get("tier", ""))
    request = add_tracing(request, traced) if traced else request
    level = attribution(facts, not is_here(host_of(where)))
    return MeterSource(command, "ssh", f"{parts.hostname}: {subject}", "as asked for", level, request)


def host_of(url: str) -> str:
    return urlsplit(url).hostname or ""


def attribution(facts: SegmentFacts, elsewhere: bool) -> Attribution:
    """How certain CPU figures are, metered on another machine or on this one."""
    if elsewhere or facts.apart or all(kind(target, facts) == "elsewhere" for target in facts.targets):
        return APART
    if all(kind(target, facts) == "programs" for target in facts.targets):
        return Attribution(OWN_PROGRAM.format(name_attachment(facts)))
    if facts.isolated:
        return ISOLATED
    if facts.host_cpus is None:
        return UNPINNED
    return PINNED if all(kind(target, facts) == "built-in" for target in facts.targets) else ONE_PINNED
