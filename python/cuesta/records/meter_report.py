"""A report of the host's meters. Times are seconds, shares percent, unless a field says otherwise.

Made by ./scripts/docs from the declarations in `crates/`: change those.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import nan

from cuesta.records.meter_figure import ABSENT, MeterFigure


@dataclass(frozen=True, slots=True, kw_only=True)
class Cpu:
    """CPU time by use, as `sar` has it."""

    usr: MeterFigure[float] = ABSENT
    """User mode, including niced tasks and guests."""
    sys: MeterFigure[float] = ABSENT
    """The kernel, without interrupts."""
    irq: MeterFigure[float] = ABSENT
    """Hard and soft interrupts; most kernels estimate soft ones by clock ticks and do not time hard ones."""
    iowait: MeterFigure[float] = ABSENT
    """Idle while a task that last ran there waits for a device."""
    steal: MeterFigure[float] = ABSENT
    """Taken by the hypervisor."""
    idle: MeterFigure[float] = ABSENT
    """Idle, and no task that last ran there waits for a device."""
    load: MeterFigure[float] = ABSENT
    """Host load: 100 − idle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """CPU time of the network's soft interrupts, on any CPU and in any task's time. Over loopback the sender's own time
    includes the receipt of what it sends, so this figure belongs to neither the host nor the driver alone."""

    seconds: MeterFigure[float] = ABSENT
    """CPU time; in the plain tier that of all soft interrupts, by clock ticks."""
    percent: MeterFigure[float] = ABSENT
    """Share of the time of all CPUs of the machine."""
    interval: MeterFigure[tuple[float, float]] = ABSENT
    """The 95 % interval of `percent`."""
    in_subject: MeterFigure[float] = ABSENT
    """The part of it that is in the subject's CPU time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Own:
    """CPU time of the subject's own tasks, and of everything else that ran on the report's CPUs."""

    source: str = ""
    """How the CPU time was taken, and therefore [what it may lack](#what-is-metered-the-subject)."""
    seconds: MeterFigure[float] = ABSENT
    """Exact CPU time between two readings of its tasks; those of consecutive intervals add up."""
    percent: MeterFigure[float] = ABSENT
    """Its share of the CPUs' time, scaled to the interval between the readings of the CPUs."""
    usr: MeterFigure[float] = ABSENT
    """Its share in user mode, by clock ticks; if no tick met it in the interval, by those of its whole life."""
    sys: MeterFigure[float] = ABSENT
    """Its share in the kernel, by the same ticks."""
    others: MeterFigure[float] = ABSENT
    """Other tasks on its CPUs, and interrupts if `irq` is missing."""
    others_are_rest: bool | None = None
    """`others` is not measured: it is what the subject leaves of the CPUs' use, since the subject may use only some
    CPUs or the tasks' clocks are missing."""
    irq: MeterFigure[float] = ABSENT
    """Interrupts that are in neither its time nor the others'."""
    doubt: str | None = None
    """Why its CPU time cannot be trusted: samples show much more or much less of it than its clocks."""
    tasks: MeterFigure[float] = ABSENT
    """Threads at the end of the interval."""
    processes: MeterFigure[float] = ABSENT
    """Processes at the end of the interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """A number of events."""

    count: int = 0
    """How many in the interval."""
    per_s: float = nan
    """How many a second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of events: of the subject if the kernel counts them by task, else of the machine (`of_machine` names
    those)."""

    minor_faults: MeterFigure[Count] = ABSENT
    """Page faults that did not wait for a device."""
    major_faults: MeterFigure[Count] = ABSENT
    """Page faults that waited for a device."""
    switches: MeterFigure[Count] = ABSENT
    """Context switches of both kinds."""
    voluntary_switches: MeterFigure[Count] = ABSENT
    """Switches because the task waited."""
    involuntary_switches: MeterFigure[Count] = ABSENT
    """Switches because another task was given the CPU."""
    wakeups: MeterFigure[Count] = ABSENT
    """Wake-ups of tasks."""
    interrupts: MeterFigure[Count] = ABSENT
    """Hard interrupts of the machine; for a CPU set, those of its CPUs."""
    softirqs: MeterFigure[Count] = ABSENT
    """Soft interrupts of the machine; for a CPU set, those of its CPUs."""
    forks: MeterFigure[Count] = ABSENT
    """Processes and threads started, on the whole machine unless traced."""
    execs: MeterFigure[Count] = ABSENT
    """Programs loaded by `execve`."""
    system_calls: MeterFigure[Count] = ABSENT
    """System calls of the subject; without tracing, `by_cause` estimates them."""
    ios: MeterFigure[Count] = ABSENT
    """Reads and writes of the machine's block devices; devices on top of others (LVM, RAID, LUKS, loops) are left out,
    since the device below counts the same requests."""
    of_machine: Sequence[str] = ()
    """Names of the counts above that cover the whole machine although the subject is only a part of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idle:
    """Idle time by kind."""

    zero: MeterFigure[float] = ABSENT
    """No task is ready, none that ran there waits for a device."""
    io_wait: MeterFigure[float] = ABSENT
    """No task is ready, one that ran there waits for a device."""
    throttled: MeterFigure[float] = ABSENT
    """Kept from running by its quota; may also count as idle."""
    quota: MeterFigure[float] = ABSENT
    """The quota (`cpu.max`), in CPUs."""
    queued_elsewhere: MeterFigure[float] = ABSENT
    """Idle while tasks waited for another CPU; an upper bound."""
    page_wait: MeterFigure[float] = ABSENT
    """Idle while a task of the subject waited for a page."""
    loading: MeterFigure[float] = ABSENT
    """Idle while a program of the subject was being loaded."""
    quota_wait: MeterFigure[float] = ABSENT
    """Idle while the subject's quota kept it from running."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the subject may run out of: levels at the end of the interval, and how often something was refused in it.
    Network figures are of the subject's network namespace."""

    ptys: MeterFigure[float] = ABSENT
    """Pseudo-terminals in use, of a devpts with `max=` those in it."""
    pty_limit: MeterFigure[float] = ABSENT
    """How many there may be."""
    files: MeterFigure[float] = ABSENT
    """Open files of the machine."""
    file_limit: MeterFigure[float] = ABSENT
    """How many there may be."""
    entropy: MeterFigure[float] = ABSENT
    """Bits of entropy; 256 once the kernel's generator is seeded (Linux 5.18)."""
    listen_overflows: MeterFigure[Count] = ABSENT
    """Times that an accept queue was full."""
    listen_drops: MeterFigure[Count] = ABSENT
    """Connections dropped by listeners for that or another reason."""
    syn_cookies: MeterFigure[Count] = ABSENT
    """Times that a queue of half-open connections was full, and a SYN cookie was sent."""
    name_lookups: MeterFigure[float] = ABSENT
    """Look-ups of names under way: sockets that are connected to a name server."""
    conntrack: MeterFigure[float] = ABSENT
    """Connections that are tracked."""
    conntrack_limit: MeterFigure[float] = ABSENT
    """How many there may be."""
    conntrack_drops: MeterFigure[Count] = ABSENT
    """Packets dropped because they could not be tracked."""
    oom_kills: MeterFigure[Count] = ABSENT
    """Processes killed for want of memory: of the control group, or of the machine."""
    memory_high: MeterFigure[Count] = ABSENT
    """Times that the group was slowed down because it was over `memory.high`."""
    pids_refused: MeterFigure[Count] = ABSENT
    """Processes and threads that the group's `pids.max` refused."""
    startups: MeterFigure[float] = ABSENT
    """Connections to sshd that have not logged in yet."""
    startups_start: MeterFigure[float] = ABSENT
    """From how many on sshd drops connections at random (`MaxStartups`)."""
    startups_rate: MeterFigure[float] = ABSENT
    """How many of them it drops then."""
    startups_full: MeterFigure[float] = ABSENT
    """At how many it drops all."""
    login_grace: MeterFigure[float] = ABSENT
    """How long a login may take (`LoginGraceTime`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeRow:
    """A row of `total_time_meters`."""

    name: str = ""
    """What the time went into."""
    percent: MeterFigure[float] = ABSENT
    """Share of all CPU time."""
    of_non_idle: MeterFigure[float] = ABSENT
    """Share of the CPU time that is not idle; missing for idle rows."""
    average: MeterFigure[float] = ABSENT
    """Mean time of one occurrence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Durations: their number, their sum and percentiles. Percentiles and the longest are known within 6 %."""

    count: int = 0
    """How many."""
    sum: float = nan
    """All together, exactly."""
    p50: float = nan
    """Half took at most this."""
    p90: float = nan
    """Nine in ten took at most this."""
    p99: float = nan
    """Ninety-nine in a hundred took at most this."""
    max: float = nan
    """The longest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Queues for the CPU and for devices. Mean numbers are by Little's law: time waited over time elapsed."""

    running: MeterFigure[float] = ABSENT
    """Mean number of tasks."""
    ready: MeterFigure[float] = ABSENT
    """Mean number of tasks (run-queue delay ÷ elapsed)."""
    in_io: MeterFigure[float] = ABSENT
    """Mean number of tasks (block-I/O delay ÷ elapsed)."""
    ready_delay: MeterFigure[float] = ABSENT
    """Mean wait for a CPU before a dispatch."""
    dispatches: MeterFigure[Count] = ABSENT
    """Dispatches of tasks to CPUs."""
    run_delay: MeterFigure[float] = ABSENT
    """Time that all tasks together were ready and not running."""
    run_queue_delay: MeterFigure[Quantiles] = ABSENT
    """Time from ready to running, of each dispatch."""
    off_cpu: MeterFigure[Mapping[str, Quantiles]] = ABSENT
    """Time from leaving a CPU to getting one again, by [why the task left it](#off-the-cpu)."""
    io_delay: MeterFigure[float] = ABSENT
    """Time that all tasks together waited for block devices (fsync included)."""
    page_waits: MeterFigure[Count] = ABSENT
    """Page faults in which the task left its CPU."""
    page_wait: MeterFigure[float] = ABSENT
    """Mean time off the CPU in such a page fault; its CPU time is in `by_cause`."""
    load_average: MeterFigure[float] = ABSENT
    """The kernel's exponential mean of tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A block device."""

    reads: Count = Count()
    """Reads completed."""
    writes: Count = Count()
    """Writes completed."""
    read_bytes_per_s: float = nan
    """Bytes read per second."""
    written_bytes_per_s: float = nan
    """Bytes written per second."""
    atb_reads: MeterFigure[float] = ABSENT
    """Average time between reads."""
    atb_writes: MeterFigure[float] = ABSENT
    """Average time between writes."""
    atb: MeterFigure[float] = ABSENT
    """Average time between I/Os."""
    queue: MeterFigure[float] = ABSENT
    """Mean number of requests outstanding."""
    response: MeterFigure[float] = ABSENT
    """From request to completion, queueing included."""
    service: MeterFigure[float] = ABSENT
    """Busy time ÷ I/Os; less than one I/O takes if the device serves several at once."""
    busy: MeterFigure[float] = ABSENT
    """Share of the time with at least one I/O outstanding, of this device alone."""
    errors: MeterFigure[float] = ABSENT
    """Failed requests, of devices that count them (SCSI)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """A network interface."""

    received: Count = Count()
    """Packets received."""
    sent: Count = Count()
    """Packets sent."""
    received_bytes_per_s: float = nan
    """Bytes received per second."""
    sent_bytes_per_s: float = nan
    """Bytes sent per second."""
    dropped: Count = Count()
    """Packets dropped by the kernel, of both directions."""
    speed: MeterFigure[float] = ABSENT
    """What it carries in each direction at most."""
    busy: MeterFigure[float] = ABSENT
    """Share of its speed that was used, of the busier direction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """One cause."""

    percent: MeterFigure[float] = ABSENT
    """Share of the CPUs."""
    standard_error: MeterFigure[float] = ABSENT
    """One standard error of `percent`, from the number of samples and the error of the constants."""
    calibration_error: MeterFigure[float] = ABSENT
    """The part of it that comes from the constants of the calibration; it is the same in every interval."""
    interval: MeterFigure[tuple[float, float]] = ABSENT
    """The 95 % interval of `percent`."""
    samples: MeterFigure[float] = ABSENT
    """Samples of this cause."""
    seconds: MeterFigure[float] = ABSENT
    """CPU time."""
    count: MeterFigure[float] = ABSENT
    """Number of faults, calls or interrupts."""
    average: MeterFigure[float] = ABSENT
    """Mean CPU time of one; of page faults, minor and major ones together, without waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByCause:
    """CPU time of the interval by cause: sampled, traced, or both."""

    causes: Mapping[str, CauseRow] = field(default_factory=dict)
    """Each cause by its name."""
    unmet: Sequence[str] = ()
    """Causes that sampling could have seen but no sample met: each had at most `bound`."""
    bound: MeterFigure[float] = ABSENT
    """The upper end of the 95 % interval of a cause that no sample met."""
    unclassified: float = nan
    """Share of the samples without a known cause."""
    about: Mapping[str, MeterFigure[float]] = field(default_factory=dict)
    """Samples taken and lost, constants, the sampler's own cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closure:
    """Whether the parts of the report add up to the time of all CPUs, number × elapsed time by our own clock."""

    accounted: MeterFigure[float] = ABSENT
    """What the parts add up to."""
    parts: Mapping[str, float] = field(default_factory=dict)
    """Each part; none is a remainder, since the subject, others and idle each have a clock of their own."""
    interrupts: float = nan
    """Upper bound of the interrupts of idle CPUs, which are in no part."""
    tolerance: float = nan
    """How far the sum may miss 100, besides those interrupts."""
    closes: bool | None = None
    """Whether the sum is within that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterReport:
    """Everything that was metered of a subject between two snapshots. Percentages are of the CPU time of `cpus`."""

    at: int = 0
    """When the interval ended, on the machine's monotonic clock."""
    wall: int = 0
    """When the interval ended, since 1970."""
    seconds: float = nan
    """Length of the interval."""
    subject: str = ""
    """What was metered."""
    cpus: Sequence[int] = ()
    """The CPUs that percentages are of: those that the subject may use and that were online throughout."""
    notes: Sequence[str] = ()
    """What is missing and how to get it, and what disturbed the meters."""
    cpu: Cpu = Cpu()
    """Time of those CPUs by use."""
    per_cpu: Mapping[str, Cpu] = field(default_factory=dict)
    """Time of each of those CPUs by use."""
    beside: Mapping[str, Cpu] = field(default_factory=dict)
    """Time of the machine's other CPUs by use; if the host is pinned, the driver's CPUs are among them."""
    network: Network = Network()
    """CPU time of the network's soft interrupts."""
    own: Own = Own()
    """CPU time of the subject's own tasks."""
    counts: Counts = Counts()
    """Numbers of events."""
    idle: Idle = Idle()
    """Idle time by kind."""
    limits: Limits = Limits()
    """What may run out, and how often it was refused."""
    pressure: Mapping[str, MeterFigure[float]] = field(default_factory=dict)
    """Share of the interval in which some or all tasks stalled because a resource was short (PSI)."""
    total_time: Sequence[TimeRow] = ()
    """Where the time went, as `total_time_meters` showed it."""
    traffic: Traffic = Traffic()
    """Queues for the CPU, as `traffic_control_meters` showed them."""
    devices: Mapping[str, Device] = field(default_factory=dict)
    """Block devices, as `device_meters` showed them."""
    interfaces: Mapping[str, Interface] = field(default_factory=dict)
    """Network interfaces but `lo`, of the machine."""
    by_cause: MeterFigure[ByCause] = ABSENT
    """CPU time of the subject by cause."""
    closure: Closure = Closure()
    """Whether the separately measured parts add up to the CPUs' time."""
    cost: MeterFigure[float] = ABSENT
    """CPU time that the last snapshot took."""
    lasted: MeterFigure[float] = ABSENT
    """Time from `at` until the last counter of the last snapshot was read."""
