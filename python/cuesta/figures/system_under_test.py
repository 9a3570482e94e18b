"""The figures of the system under test, each declared once. They are its meters' word, not the driver's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, AnyJson, Better, Unit
from cuesta.records.meter_report import MeterReport


@dataclass(frozen=True, slots=True)
class BuiltInHost:
    """The built-in host by its own meters."""

    seconds: Annotated[float, About("time covered by the rows of its meters in the measurement interval", Unit.SECONDS)]
    lines: Annotated[int, About("the largest number of connected lines", Unit.COUNT, "host lines")]
    served_per_s: Annotated[
        float,
        About(
            "messages taken from terminals per second: rows, or characters of raw input",
            Unit.PER_SECOND,
            "host messages in/s",
        ),
    ]
    answered_per_s: Annotated[float, About("messages answered per second", Unit.PER_SECOND, "host messages out/s")]
    line_in_per_s: Annotated[
        float, About("characters per second received on its lines", Unit.PER_SECOND, "host characters in/s")
    ]
    line_out_per_s: Annotated[
        float, About("characters per second sent on its lines", Unit.PER_SECOND, "host characters out/s")
    ]
    pool_size: Annotated[int, About("capacity of its buffer pool in characters", Unit.COUNT, "buffer pool")]
    pool_used: Annotated[
        int,
        About(
            "the largest number of characters that waited in the pool at once since the host started",
            Unit.COUNT,
            "buffer pool used",
        ),
    ]
    servers: Annotated[int, About("number of servers", Unit.COUNT, "host servers")]
    busy: Annotated[
        float | None,
        About("mean number of busy servers / servers; None without servers", Unit.SHARE, "host servers busy"),
    ]
    queue: Annotated[
        float | None, About("mean number of messages that waited for a server", Unit.COUNT, "messages waiting")
    ]
    cpu: Annotated[float, About("CPU seconds per second, of the whole process", Unit.SHARE, "host process CPU")]
    in_kernel: Annotated[
        float | None,
        About(
            "share of the characters between lines and programs that the host did not relay itself; None without "
            "the in-kernel path",
            Unit.SHARE,
            "characters by the in-kernel path",
        ),
    ] = None
    idle: Annotated[
        float | None,
        About("idle time of its threads, by the scheduler's own clock", Unit.SHARE, "front end idle", Better.MORE),
    ] = None
    pool_free: Annotated[
        float | None,
        About("mean number of characters for which its buffer pool had room", Unit.COUNT, "buffers free", Better.MORE),
    ] = None
    pool_overflows: Annotated[
        float | None,
        About("times that a line passed on less because the pool had no room", Unit.COUNT, "pool overflows"),
    ] = None
    output_blocks: Annotated[
        float | None,
        About("times that a line did not take all output that was due", Unit.COUNT, "output blocks"),
    ] = None
    typed_per_s: Annotated[
        float | None,
        About(
            "characters per second as typed (raw), before erase and kill, without telnet",
            Unit.PER_SECOND,
            "characters typed/s",
        ),
    ] = None
    taken_per_s: Annotated[
        float | None,
        About(
            "characters per second that its services took, after erase and kill, without the ends of rows",
            Unit.PER_SECOND,
            "characters taken/s",
        ),
    ] = None
    written_per_s: Annotated[
        float | None, About("characters per second that its services wrote", Unit.PER_SECOND, "characters written/s")
    ] = None
    input_conversion: Annotated[
        float | None,
        About("conversion factor of input: characters that services took / characters typed", Unit.COUNT),
    ] = None
    output_conversion: Annotated[
        float | None,
        About(
            "conversion factor of output: characters on its lines, telnet included / characters written or echoed",
            Unit.COUNT,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class CpuUse:
    """Percent of the host's CPUs by use. For a process or cgroup, `usr` and `sys` are its own."""

    usr: Annotated[
        float, About("CPU time of the host's programs", Unit.PERCENT, "host CPU, programs", column="host_usr")
    ]
    sys: Annotated[
        float, About("CPU time in the kernel for the host", Unit.PERCENT, "host CPU, kernel", column="host_sys")
    ]
    irq: Annotated[
        float | None,
        About(
            "CPU time in interrupts; for a process or cgroup the interrupts of the CPUs that it shares. None where the "
            "kernel does not tell them from `others`, which then includes them",
            Unit.PERCENT,
            "host CPU, interrupts",
            column="host_irq",
        ),
    ]
    iowait: Annotated[
        float,
        About(
            "idle time in which a task waited for a disk",
            Unit.PERCENT,
            "host idle, waiting for disks",
            column="host_iowait",
        ),
    ]
    steal: Annotated[
        float, About("CPU time taken by the hypervisor", Unit.PERCENT, "host CPU stolen", column="host_steal")
    ]
    idle: Annotated[float, About("idle time", Unit.PERCENT, "host idle", Better.MORE, column="host_idle")]
    others: Annotated[
        float | None,
        About(
            "CPU time of everything else on its CPUs; None if the host is the whole machine",
            Unit.PERCENT,
            "others' CPU",
        ),
    ]
    load: Annotated[
        float, About("100 − idle, as `sar` has it", Unit.PERCENT, "host load", alias="host.load", column="host_load")
    ]


@dataclass(frozen=True, slots=True)
class PerTransaction:
    """What one transaction cost the host, of those counted in the interval that was metered."""

    transactions: Annotated[
        float,
        About("transactions of the metered interval; a second that lies partly in it counts in proportion", Unit.COUNT),
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
        Sequence[str],
        About("names of the figures that are of the whole machine, because the kernel does not count them by process"),
    ]


@dataclass(frozen=True, slots=True)
class Metering:
    """Where the host's figures come from."""

    source: Annotated[str, About("`here`, or where the meters ran")]
    subject: Annotated[str, About("what was metered: `machine`, `pid:…`, `cgroup:…`")]
    why: Annotated[str, About("why this subject was metered, or why nothing was", sentence=True)]
    honesty: Annotated[str, About("how certainly the CPU figures belong to the host, in words", sentence=True)]
    order: Annotated[
        int | None, About("the attribution level of the CPU figures, 1 (most certain) to 4 (least certain)")
    ]
    seconds: Annotated[float, About("the metered part of the measurement interval", Unit.SECONDS, "metered for")]
    closes: Annotated[
        bool | None, About("whether the separately measured parts add up to the CPUs' time; None if a part is unknown")
    ]
    gaps: Annotated[Sequence[str], About("why some readings are missing", sentence=True)]
    accounting: Annotated[str | None, About("how the subject's CPU time was taken", sentence=True)] = None
    doubt: Annotated[str | None, About("why that accounting is not to be trusted", sentence=True)] = None
    untraced: Annotated[str | None, About("why the kernel was not traced, if that was asked for", sentence=True)] = None


@dataclass(frozen=True, slots=True)
class HostFigures:
    """The system under test."""

    cpu: Annotated[CpuUse | None, About("Percent of the host's CPUs", better=Better.LESS)]
    cpu_missing: Annotated[str | None, About("why `cpu` is missing", sentence=True)]
    cpu_by_cause: Annotated[
        Mapping[str, float] | None, About("the host's CPU time by cause, in percent of the same CPUs")
    ]
    per_transaction: Annotated[PerTransaction | None, About("What one transaction cost the host", better=Better.LESS)]
    meters: Annotated[Metering | None, About("Where the figures come from")]
    sheet: Annotated[MeterReport | None, AnyJson(), About("the whole meter report (docs/meters.md)")]
    builtin: Annotated[BuiltInHost | None, About("The built-in host by its own meters; None for any other")]
    programs: Annotated[
        Mapping[str, int], About("commands that lines start on this machine, and the number of users of each")
    ]
    cpu_per_keystroke: Annotated[
        float | None,
        About(
            "CPU time of the host per key that was sent in the metered interval; of a machine or of CPUs all that they "
            "did: interrupts included, and what they do without users, which with few keys may be most of it",
            Unit.SECONDS,
            "host CPU per key",
            Better.LESS,
        ),
    ] = None
    per_transaction_missing: Annotated[
        str | None,
        About("why `per_transaction` is missing although transactions were counted and metered", sentence=True),
    ] = None
    cpu_by_cause_se: Annotated[
        Mapping[str, float] | None, About("the standard error of each value of `cpu_by_cause`")
    ] = None
    cpu_by_cause_interval: Annotated[
        Mapping[str, tuple[float, float]] | None,
        About("the 95 % interval of each cause, also of causes without samples"),
    ] = None

    @property
    def meter_report(self) -> MeterReport | None:
        """`sheet`, by the name that the rest of the code uses; `summary.json` keeps the older key."""
        return self.sheet
