"""A report of the host's meters, typed. Times are seconds, shares percent, unless a field says otherwise.

Made by `python -m cuesta.records.schema` from `crates/cuesta-meters-report/src/tables.rs`: change that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuesta.records.meter_figure import MeterFigure


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU time by use, as `sar` has it."""

    usr: MeterFigure[float]
    """User mode, including niced tasks and guests."""
    sys: MeterFigure[float]
    """The kernel, without interrupts."""
    irq: MeterFigure[float]
    """Hard and soft interrupts; most kernels estimate soft ones by clock ticks and do not time hard ones."""
    iowait: MeterFigure[float]
    """Idle while a task that last ran there waits for a device."""
    steal: MeterFigure[float]
    """Taken by the hypervisor."""
    idle: MeterFigure[float]
    """Idle, and no task that last ran there waits for a device."""
    load: MeterFigure[float]
    """Host load: 100 − idle."""


@dataclass(frozen=True, slots=True)
class Network:
    """CPU time of the network's soft interrupts, on any CPU and in any task's time. Over loopback the sender's own time
    includes the receipt of what it sends, so this figure belongs to neither the host nor the driver alone."""

    seconds: MeterFigure[float]
    """CPU time; in the plain tier that of all soft interrupts, by clock ticks."""
    percent: MeterFigure[float]
    """Share of the time of all CPUs of the machine."""
    interval: MeterFigure[tuple[float, float]]
    """The 95 % interval of `percent`."""
    in_subject: MeterFigure[float]
    """The part of it that is in the subject's CPU time."""


@dataclass(frozen=True, slots=True)
class Own:
    """CPU time of the subject's own tasks, and of everything else that ran on the report's CPUs."""

    source: str
    """How the CPU time was taken, and therefore [what it may lack](#what-is-metered-the-subject)."""
    seconds: MeterFigure[float]
    """Exact CPU time between two readings of its tasks; those of consecutive intervals add up."""
    percent: MeterFigure[float]
    """Its share of the CPUs' time, scaled to the interval between the readings of the CPUs."""
    usr: MeterFigure[float]
    """Its share in user mode, by clock ticks; if no tick met it in the interval, by those of its whole life."""
    sys: MeterFigure[float]
    """Its share in the kernel, by the same ticks."""
    others: MeterFigure[float]
    """Other tasks on its CPUs, and interrupts if `irq` is missing."""
    others_are_rest: bool | None
    """`others` is not measured: it is what the subject leaves of the CPUs' use, since the subject may use only some
    CPUs or the tasks' clocks are missing."""
    irq: MeterFigure[float]
    """Interrupts that are in neither its time nor the others'."""
    doubt: str | None
    """Why its CPU time cannot be trusted: samples show much more or much less of it than its clocks."""
    tasks: MeterFigure[float]
    """Threads at the end of the interval."""
    processes: MeterFigure[float]
    """Processes at the end of the interval."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of events."""

    count: int
    """How many in the interval."""
    per_s: float
    """How many a second."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of events: of the subject if the kernel counts them by task, else of the machine (`of_machine` names
    those)."""

    minor_faults: MeterFigure[Count]
    """Page faults that did not wait for a device."""
    major_faults: MeterFigure[Count]
    """Page faults that waited for a device."""
    switches: MeterFigure[Count]
    """Context switches of both kinds."""
    voluntary_switches: MeterFigure[Count]
    """Switches because the task waited."""
    involuntary_switches: MeterFigure[Count]
    """Switches because another task was given the CPU."""
    wakeups: MeterFigure[Count]
    """Wake-ups of tasks."""
    interrupts: MeterFigure[Count]
    """Hard interrupts of the machine; for a CPU set, those of its CPUs."""
    softirqs: MeterFigure[Count]
    """Soft interrupts of the machine; for a CPU set, those of its CPUs."""
    forks: MeterFigure[Count]
    """Processes and threads started, on the whole machine unless traced."""
    execs: MeterFigure[Count]
    """Programs loaded by `execve`."""
    system_calls: MeterFigure[Count]
    """System calls of the subject; without tracing, `by_cause` estimates them."""
    ios: MeterFigure[Count]
    """Reads and writes of the machine's block devices; devices on top of others (LVM, RAID, LUKS, loops) are left out,
    since the device below counts the same requests."""
    of_machine: Sequence[str]
    """Names of the counts above that cover the whole machine although the subject is only a part of it."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Idle time by kind."""

    zero: MeterFigure[float]
    """No task is ready, none that ran there waits for a device."""
    io_wait: MeterFigure[float]
    """No task is ready, one that ran there waits for a device."""
    throttled: MeterFigure[float]
    """Kept from running by its quota; may also count as idle."""
    quota: MeterFigure[float]
    """The quota (`cpu.max`), in CPUs."""
    queued_elsewhere: MeterFigure[float]
    """Idle while tasks waited for another CPU; an upper bound."""
    page_wait: MeterFigure[float]
    """Idle while a task of the subject waited for a page."""
    loading: MeterFigure[float]
    """Idle while a program of the subject was being loaded."""
    quota_wait: MeterFigure[float]
    """Idle while the subject's quota kept it from running."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A row of `total_time_meters`."""

    name: str
    """What the time went into."""
    percent: MeterFigure[float]
    """Share of all CPU time."""
    of_non_idle: MeterFigure[float]
    """Share of the CPU time that is not idle; missing for idle rows."""
    average: MeterFigure[float]
    """Mean time of one occurrence."""


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Durations: their number, their sum and percentiles. Percentiles and the longest are known within 6 %."""

    count: int
    """How many."""
    sum: float
    """All together, exactly."""
    p50: float
    """Half took at most this."""
    p90: float
    """Nine in ten took at most this."""
    p99: float
    """Ninety-nine in a hundred took at most this."""
    max: float
    """The longest."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """Queues for the CPU and for devices. Mean numbers are by Little's law: time waited over time elapsed."""

    running: MeterFigure[float]
    """Mean number of tasks."""
    ready: MeterFigure[float]
    """Mean number of tasks (run-queue delay ÷ elapsed)."""
    in_io: MeterFigure[float]
    """Mean number of tasks (block-I/O delay ÷ elapsed)."""
    ready_delay: MeterFigure[float]
    """Mean wait for a CPU before a dispatch."""
    dispatches: MeterFigure[Count]
    """Dispatches of tasks to CPUs."""
    run_delay: MeterFigure[float]
    """Time that all tasks together were ready and not running."""
    run_queue_delay: MeterFigure[Quantiles]
    """Time from ready to running, of each dispatch."""
    off_cpu: MeterFigure[Mapping[str, Quantiles]]
    """Time from leaving a CPU to getting one again, by [why the task left it](#off-the-cpu)."""
    io_delay: MeterFigure[float]
    """Time that all tasks together waited for block devices (fsync included)."""
    page_waits: MeterFigure[Count]
    """Page faults in which the task left its CPU."""
    page_wait: MeterFigure[float]
    """Mean time off the CPU in such a page fault; its CPU time is in `by_cause`."""
    load_average: MeterFigure[float]
    """The kernel's exponential mean of tasks."""


@dataclass(frozen=True, slots=True)
class Device:
    """A block device."""

    reads: Count
    """Reads completed."""
    writes: Count
    """Writes completed."""
    read_bytes_per_s: float
    """Bytes read per second."""
    written_bytes_per_s: float
    """Bytes written per second."""
    atb_reads: MeterFigure[float]
    """Average time between reads."""
    atb_writes: MeterFigure[float]
    """Average time between writes."""
    atb: MeterFigure[float]
    """Average time between I/Os."""
    queue: MeterFigure[float]
    """Mean number of requests outstanding."""
    response: MeterFigure[float]
    """From request to completion, queueing included."""
    service: MeterFigure[float]
    """Busy time ÷ I/Os; less than one I/O takes if the device serves several at once."""
    busy: MeterFigure[float]
    """Share of the time with at least one I/O outstanding, of this device alone."""
    errors: MeterFigure[float]
    """Failed requests, of devices that count them (SCSI)."""


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface."""

    received: Count
    """Packets received."""
    sent: Count
    """Packets sent."""
    received_bytes_per_s: float
    """Bytes received per second."""
    sent_bytes_per_s: float
    """Bytes sent per second."""
    dropped: Count
    """Packets dropped by the kernel, of both directions."""
    speed: MeterFigure[float]
    """What it carries in each direction at most."""
    busy: MeterFigure[float]
    """Share of its speed that was used, of the busier direction."""


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One cause."""

    percent: MeterFigure[float]
    """Share of the CPUs."""
    standard_error: MeterFigure[float]
    """One standard error of `percent`, from the number of samples and the error of the constants."""
    calibration_error: MeterFigure[float]
    """The part of it that comes from the constants of the calibration; it is the same in every interval."""
    interval: MeterFigure[tuple[float, float]]
    """The 95 % interval of `percent`."""
    samples: MeterFigure[float]
    """Samples of this cause."""
    seconds: MeterFigure[float]
    """CPU time."""
    count: MeterFigure[float]
    """Number of faults, calls or interrupts."""
    average: MeterFigure[float]
    """Mean CPU time of one; of page faults, minor and major ones together, without waiting."""


@dataclass(frozen=True, slots=True)
class ByCause:
    """CPU time of the interval by cause: sampled, traced, or both."""

    causes: Mapping[str, CauseRow]
    """Each cause by its name."""
    unmet: Sequence[str]
    """Causes that sampling could have seen but no sample met: each had at most `bound`."""
    bound: MeterFigure[float]
    """The upper end of the 95 % interval of a cause that no sample met."""
    unclassified: float
    """Share of the samples without a known cause."""
    about: Mapping[str, MeterFigure[float]]
    """Samples taken and lost, constants, the sampler's own cost."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Whether the parts of the report add up to the time of all CPUs, number × elapsed time by our own clock."""

    accounted: MeterFigure[float]
    """What the parts add up to."""
    parts: Mapping[str, float]
    """Each part; none is a remainder, since the subject, others and idle each have a clock of their own."""
    interrupts: float
    """Upper bound of the interrupts of idle CPUs, which are in no part."""
    tolerance: float
    """How far the sum may miss 100, besides those interrupts."""
    closes: bool | None
    """Whether the sum is within that."""


@dataclass(frozen=True, slots=True)
class MeterReport:
    """Everything that was metered of a subject between two snapshots. Percentages are of the CPU time of `cpus`."""

    at: int
    """When the interval ended, on the machine's monotonic clock."""
    wall: int
    """When the interval ended, since 1970."""
    seconds: float
    """Length of the interval."""
    subject: str
    """What was metered."""
    cpus: Sequence[int]
    """The CPUs that percentages are of: those that the subject may use and that were online throughout."""
    notes: Sequence[str]
    """What is missing and how to get it, and what disturbed the meters."""
    cpu: Cpu
    """Time of those CPUs by use."""
    per_cpu: Mapping[str, Cpu]
    """Time of each of those CPUs by use."""
    beside: Mapping[str, Cpu]
    """Time of the machine's other CPUs by use; if the host is pinned, the driver's CPUs are among them."""
    network: Network
    """CPU time of the network's soft interrupts."""
    own: Own
    """CPU time of the subject's own tasks."""
    counts: Counts
    """Numbers of events."""
    idle: Idle
    """Idle time by kind."""
    pressure: Mapping[str, MeterFigure[float]]
    """Share of the interval in which some or all tasks stalled because a resource was short (PSI)."""
    total_time: Sequence[TimeRow]
    """Where the time went, as `total_time_meters` showed it."""
    traffic: Traffic
    """Queues for the CPU, as `traffic_control_meters` showed them."""
    devices: Mapping[str, Device]
    """Block devices, as `device_meters` showed them."""
    interfaces: Mapping[str, Interface]
    """Network interfaces but `lo`, of the machine."""
    by_cause: MeterFigure[ByCause]
    """CPU time of the subject by cause."""
    closure: Closure
    """Whether the separately measured parts add up to the CPUs' time."""
    cost: MeterFigure[float]
    """CPU time that the last snapshot took."""
