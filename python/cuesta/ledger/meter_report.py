"""A report of the host's meters, typed. Times are seconds, shares percent, unless a field says otherwise.

Made by `python -m cuesta.ledger.meter_schema` from `crates/cuesta-meters/src/report/tables.rs`: change that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cuesta.ledger.meter_figure import MeterFigure


@dataclass(frozen=True, slots=True)
class Cpu:
    """CPU time by use, as `sar` has it."""

    usr: MeterFigure[float]
    """User mode, niced and guests' included."""
    sys: MeterFigure[float]
    """Kernel, interrupts apart."""
    irq: MeterFigure[float]
    """Hard and soft interrupts; most kernels time soft ones by ticks and hard ones not at all."""
    iowait: MeterFigure[float]
    """Idle while a task that last ran there waits for a device."""
    steal: MeterFigure[float]
    """Taken by the hypervisor."""
    idle: MeterFigure[float]
    """Idle, no input or output outstanding."""
    load: MeterFigure[float]
    """Host load: 100 − idle."""


@dataclass(frozen=True, slots=True)
class Network:
    """CPU time of the network's soft interrupts, on whichever CPU and in whoever's context: over loopback what one side
    sends is received in its own context, so that this is neither the host's nor the driver's alone."""

    seconds: MeterFigure[float]
    """CPU time; in the plain tier of all soft interrupts, as ticks met them."""
    percent: MeterFigure[float]
    """The same, as a share of all CPUs of the machine."""
    interval: MeterFigure[tuple[float, float]]
    """The 95 % interval of `percent`."""
    in_subject: MeterFigure[float]
    """The part of it in the CPU time of the subject."""


@dataclass(frozen=True, slots=True)
class Own:
    """CPU time of the subject's own tasks, and of what ran beside them on the report's CPUs."""

    source: str
    """How it was taken, and so [what it may lack](#what-is-metered-the-subject)."""
    seconds: MeterFigure[float]
    """Exact CPU time between two looks at its tasks: it adds up over intervals that follow each other."""
    percent: MeterFigure[float]
    """The same as a share of the CPUs, in the interval in which those were read."""
    usr: MeterFigure[float]
    """In user mode, as the kernel's ticks met it; where none did in the interval, as in its life so far."""
    sys: MeterFigure[float]
    """In the kernel, likewise."""
    others: MeterFigure[float]
    """Other tasks on its CPUs; with interrupts where `irq` is missing."""
    others_are_rest: bool | None
    """`others` is not measured but what is left of the CPUs' use: on CPUs of its own, where others' clocks are not."""
    irq: MeterFigure[float]
    """Interrupts in neither its time nor others'."""
    doubt: str | None
    """Why its CPU time is not to be trusted: samples met it for much more or much less than its clocks have."""
    tasks: MeterFigure[float]
    """Threads at the end."""
    processes: MeterFigure[float]
    """Processes at the end."""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of events."""

    count: int
    """How many in the interval."""
    per_s: float
    """How many a second."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of events: of the subject where the kernel counts them by task, else of the machine (`of_machine` names
    those)."""

    minor_faults: MeterFigure[Count]
    """Page faults that waited for no device."""
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
    """Hard interrupts, of the machine; of a CPU set by CPU."""
    softirqs: MeterFigure[Count]
    """Soft interrupts, likewise."""
    forks: MeterFigure[Count]
    """Processes and threads made, of the machine."""
    execs: MeterFigure[Count]
    """Programs loaded by `execve`."""
    system_calls: MeterFigure[Count]
    """System calls of the subject; where they are not traced, causes estimate them."""
    ios: MeterFigure[Count]
    """Reads and writes of block devices, of the machine; those that stand on others (LVM, RAID, LUKS, loops) are left
    out, the device below has them."""
    of_machine: Sequence[str]
    """Names of the counts above that are of the whole machine although the subject is less."""


@dataclass(frozen=True, slots=True)
class Idle:
    """Idle time by kind."""

    zero: MeterFigure[float]
    """No task to run, none that ran there waits for a device."""
    io_wait: MeterFigure[float]
    """No task to run, one that ran there waits for a device."""
    throttled: MeterFigure[float]
    """The subject was barred by its quota; may lie in idle."""
    quota: MeterFigure[float]
    """The quota (`cpu.max`), in CPUs."""
    queued_elsewhere: MeterFigure[float]
    """Idle while tasks waited for another CPU: at most this."""
    page_wait: MeterFigure[float]
    """Idle while a task of the subject waited for a page."""
    loading: MeterFigure[float]
    """Idle while a program of the subject was being loaded."""
    quota_wait: MeterFigure[float]
    """Idle while the subject was barred by its quota."""


@dataclass(frozen=True, slots=True)
class TimeRow:
    """A row of `total_time_meters`."""

    name: str
    """What the time went into."""
    percent: MeterFigure[float]
    """Share of all CPU time."""
    of_non_idle: MeterFigure[float]
    """Share of non-idle CPU time; none for idle."""
    average: MeterFigure[float]
    """Time of each occurrence."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution of durations. Percentiles and the largest are known within 6 %."""

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
    """Tasks, mean."""
    ready: MeterFigure[float]
    """Tasks, mean (run-queue delay ÷ elapsed)."""
    in_io: MeterFigure[float]
    """Tasks, mean (block-I/O delay ÷ elapsed)."""
    ready_delay: MeterFigure[float]
    """Wait for a CPU, of each dispatch."""
    dispatches: MeterFigure[Count]
    """Dispatches of tasks to CPUs."""
    run_delay: MeterFigure[float]
    """Time that all tasks together were ready and not running."""
    run_queue_delay: MeterFigure[Distribution]
    """From ready to running, of each dispatch."""
    off_cpu: MeterFigure[Mapping[str, Distribution]]
    """From leaving a CPU to having one again, by [why it was left](#off-the-cpu)."""
    io_delay: MeterFigure[float]
    """Time that all tasks together waited for block devices (fsync included)."""
    page_waits: MeterFigure[Count]
    """Page faults in which the task left its CPU."""
    page_wait: MeterFigure[float]
    """Time off the CPU in each of these."""
    load_average: MeterFigure[float]
    """The kernel's exponential mean."""


@dataclass(frozen=True, slots=True)
class Device:
    """A block device."""

    reads: Count
    """Reads completed."""
    writes: Count
    """Writes completed."""
    read_bytes_per_s: float
    """Read a second."""
    written_bytes_per_s: float
    """Written a second."""
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
    """Busy time ÷ I/Os: for a device that does several at once, less than each takes."""
    busy: MeterFigure[float]
    """At least one I/O outstanding; of that device, never a sum."""
    errors: MeterFigure[float]
    """Failed requests, of devices that count them (SCSI)."""


@dataclass(frozen=True, slots=True)
class CauseRow:
    """One cause."""

    percent: MeterFigure[float]
    """Share of the CPUs."""
    standard_error: MeterFigure[float]
    """One standard error of `percent`, by what so many samples can tell."""
    calibration_error: MeterFigure[float]
    """The part of it that is there because the constants of the calibration are not better known: the same in every
    interval."""
    interval: MeterFigure[tuple[float, float]]
    """The 95 % interval of `percent`."""
    samples: MeterFigure[float]
    """Samples that met it."""
    seconds: MeterFigure[float]
    """CPU time."""
    count: MeterFigure[float]
    """Number of faults, calls, interrupts."""
    average: MeterFigure[float]
    """CPU time of each."""


@dataclass(frozen=True, slots=True)
class ByCause:
    """CPU time of the interval by cause: sampled, traced, or both."""

    causes: Mapping[str, CauseRow]
    """Each cause by its name."""
    unmet: Sequence[str]
    """Causes that sampling would have seen and that no sample met: each had at most `bound`."""
    bound: MeterFigure[float]
    """The upper end of the 95 % interval of a cause that no sample met."""
    unclassified: float
    """Share of the samples that no class was found for."""
    about: Mapping[str, MeterFigure[float]]
    """Samples taken and lost, constants, the sampler's own cost."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Whether the report closes: the parts against all CPUs × elapsed time by our own clock."""

    accounted: MeterFigure[float]
    """What the parts add up to."""
    parts: Mapping[str, float]
    """Each part; none is a remainder: the subject, others and idle have clocks of their own."""
    interrupts: float
    """Interrupts of idle CPUs, which are in no part, at most."""
    tolerance: float
    """How far beside those the sum may miss 100."""
    closes: bool | None
    """The sum misses 100 by no more."""


@dataclass(frozen=True, slots=True)
class MeterReport:
    """Everything that was metered of a subject between two snapshots. Percentages are of the CPU time of `cpus`."""

    at: int
    """The end, on the machine's monotonic clock."""
    wall: int
    """The end, since 1970."""
    seconds: float
    """Length of the interval."""
    subject: str
    """What was metered."""
    cpus: Sequence[int]
    """The CPUs that percentages are of: those that the subject may use and that were there throughout."""
    notes: Sequence[str]
    """What is missing and how to allow it; what else happened to the meters."""
    cpu: Cpu
    """Time of those CPUs by use."""
    per_cpu: Mapping[str, Cpu]
    """The same of each CPU."""
    beside: Mapping[str, Cpu]
    """The same of the machine's other CPUs: for a pinned host, the driver's are among them."""
    network: Network
    """CPU time of the network's soft interrupts."""
    own: Own
    """CPU time of the subject's own tasks."""
    counts: Counts
    """Numbers of events."""
    idle: Idle
    """Idle time by kind."""
    pressure: Mapping[str, MeterFigure[float]]
    """Share of the interval in which some or all tasks stalled for want of a resource (PSI)."""
    total_time: Sequence[TimeRow]
    """Where the time went, as `total_time_meters` showed it."""
    traffic: Traffic
    """Queues for the CPU, as `traffic_control_meters` showed them."""
    devices: Mapping[str, Device]
    """Block devices, as `device_meters` showed them."""
    by_cause: MeterFigure[ByCause]
    """CPU time of the subject by cause."""
    closure: Closure
    """Whether parts that were each measured by a clock of their own add up to the CPUs' time."""
    cost: MeterFigure[float]
    """CPU time that taking the last snapshot took."""
