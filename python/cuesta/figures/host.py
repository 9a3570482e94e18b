"""The figures of the system under test, each declared once. They are its meters' word, not the driver's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cuesta.figures.about import About, Better, Unit


@dataclass(frozen=True, slots=True)
class BuiltInHost:
    """The built-in host by its own meters."""

    seconds: Annotated[float, About("the rows of its meters that lie in the measurement, together", Unit.SECONDS)]
    lines: Annotated[int, About("the most lines that were connected", Unit.COUNT, "host lines")]
    served_per_s: Annotated[
        float,
        About(
            "messages taken from terminals a second: rows, or characters of raw input",
            Unit.PER_SECOND,
            "host messages in/s",
        ),
    ]
    answered_per_s: Annotated[float, About("messages answered a second", Unit.PER_SECOND, "host messages out/s")]
    line_in_per_s: Annotated[
        float, About("characters that came in on its lines", Unit.PER_SECOND, "host characters in/s")
    ]
    line_out_per_s: Annotated[float, About("characters that went out", Unit.PER_SECOND, "host characters out/s")]
    pool_size: Annotated[int, About("characters that its buffer pool holds", Unit.COUNT, "buffer pool")]
    pool_used: Annotated[
        int, About("the most that waited in the pool at once since it started", Unit.COUNT, "buffer pool used")
    ]
    servers: Annotated[int, About("servers that it has", Unit.COUNT, "host servers")]
    busy: Annotated[
        float | None,
        About("mean number of busy servers over their number; None without servers", Unit.SHARE, "host servers busy"),
    ]
    queue: Annotated[
        float | None, About("mean number of messages that waited for a server", Unit.COUNT, "messages waiting")
    ]
    cpu: Annotated[float, About("seconds of CPU a second, of the whole process", Unit.SHARE, "host process CPU")]


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Percent of the host's CPUs by use. For a process or cgroup, `usr` and `sys` are its own."""

    usr: Annotated[float, About("in its programs", Unit.PERCENT, "host CPU, programs", column="host_usr")]
    sys: Annotated[float, About("in the kernel for it", Unit.PERCENT, "host CPU, kernel", column="host_sys")]
    irq: Annotated[
        float | None,
        About(
            "in interrupts; for a process or cgroup those of the CPUs it shares. None where the kernel does not tell "
            "them from `others`, which then has them",
            Unit.PERCENT,
            "host CPU, interrupts",
            column="host_irq",
        ),
    ]
    iowait: Annotated[
        float,
        About("idle while a disk was waited for", Unit.PERCENT, "host idle, waiting for disks", column="host_iowait"),
    ]
    steal: Annotated[float, About("taken by the hypervisor", Unit.PERCENT, "host CPU stolen", column="host_steal")]
    idle: Annotated[float, About("idle", Unit.PERCENT, "host idle", Better.MORE, column="host_idle")]
    others: Annotated[
        float | None,
        About("in what else ran on its CPUs; None if the host is the whole machine", Unit.PERCENT, "others' CPU"),
    ]

    @property
    def load(self) -> float:
        """Percent of the CPUs that are not idle, as sar has it."""
        return 100.0 - self.idle


@dataclass(frozen=True, slots=True)
class PerTransaction:
    """What one transaction cost the host, of those counted in the interval that was metered."""

    transactions: Annotated[
        float, About("transactions of the metered interval; a row that it cuts counts by its part", Unit.COUNT)
    ]
    cpu_ms: Annotated[float | None, About("CPU time", Unit.MILLISECONDS, "CPU per transaction", alias="demand")]
    minor_faults: Annotated[
        float | None,
        About("page faults without a disk", Unit.COUNT, "minor faults per transaction", alias="minor_faults"),
    ]
    major_faults: Annotated[
        float | None, About("page faults that waited for a disk", Unit.COUNT, "major faults per transaction")
    ]
    switches: Annotated[
        float | None, About("context switches", Unit.COUNT, "context switches per transaction", alias="switches")
    ]
    system_calls: Annotated[
        float | None, About("system calls, counted", Unit.COUNT, "system calls per transaction", alias="system_calls")
    ]
    system_calls_estimated: Annotated[
        float | None,
        About(
            "system calls estimated from samples; None where they are counted, not sampled, or samples are too few",
            Unit.COUNT,
            "system calls per transaction, estimated",
        ),
    ]
    ios: Annotated[
        float | None, About("reads and writes of block devices", Unit.COUNT, "I/Os per transaction", alias="ios")
    ]
    of_machine: Annotated[
        Sequence[str], About("names of those that are of the whole machine: the kernel does not count them by process")
    ]


@dataclass(frozen=True, slots=True)
class Metering:
    """Where the host's figures come from."""

    source: Annotated[str, About("`here`, or where the meters ran")]
    subject: Annotated[str, About("what was metered: `machine`, `pid:…`, `cgroup:…`")]
    why: Annotated[str, About("why that was metered, or why nothing was")]
    honesty: Annotated[str, About("what the CPU figures are worth, in words")]
    order: Annotated[
        int | None, About("the attribution level of the CPU figures, 1 (most certain) to 4 (least certain)")
    ]
    seconds: Annotated[float, About("time that was metered of the measurement interval", Unit.SECONDS, "metered for")]
    closes: Annotated[
        bool | None, About("whether what was measured apart adds up to the CPUs' time; None where a part is not known")
    ]
    gaps: Annotated[Sequence[str], About("why there was nothing to read at times")]
    accounting: Annotated[str | None, About("how the subject's CPU time was taken")] = None
    doubt: Annotated[str | None, About("why that is not to be trusted")] = None
    untraced: Annotated[str | None, About("why the kernel was not traced, if that was asked for")] = None


@dataclass(frozen=True, slots=True)
class HostFigures:
    """The system under test."""

    cpu: Annotated[CpuUse | None, About("Percent of the host's CPUs", better=Better.LESS)]
    cpu_missing: Annotated[str | None, About("why there is no `cpu`")]
    cpu_by_cause: Annotated[Mapping[str, float] | None, About("its CPU time by cause, in percent of the same CPUs")]
    per_transaction: Annotated[PerTransaction | None, About("What one transaction cost the host", better=Better.LESS)]
    meters: Annotated[Metering | None, About("Where the figures come from")]
    sheet: Annotated[Any, About("all that was metered (docs/meters.md)")]
    builtin: Annotated[BuiltInHost | None, About("The built-in host by its own meters; None for any other")]
    programs: Annotated[
        Mapping[str, int], About("commands that users' lines start on this machine, and how many users each has")
    ]
    per_transaction_missing: Annotated[
        str | None, About("why there is no `per_transaction` though transactions were counted and metered")
    ] = None
    cpu_by_cause_se: Annotated[Mapping[str, float] | None, About("one standard error of each of `cpu_by_cause`")] = None
    cpu_by_cause_interval: Annotated[
        Mapping[str, tuple[float, float]] | None, About("the 95 % interval of each, also of causes that no sample met")
    ] = None
