"""The figures of the system under test, each declared once. They are its meters' word, not the driver's."""

from collections.abc import Mapping, Sequence
from typing import Annotated

from cuesta.figures.about import AnyJson, Better, Unit, declare, figure_table
from cuesta.records.meter_report import MeterReport


@figure_table
class BuiltInHost:
    """The built-in host by its own meters."""

    seconds: float = declare("time covered by the rows of its meters in the measurement interval", Unit.SECONDS)
    lines: int = declare("the largest number of connected lines", Unit.COUNT, "host lines")
    served_per_s: float = declare(
        "messages taken from terminals per second: rows, or characters of raw input",
        Unit.PER_SECOND,
        "host messages in/s",
    )
    answered_per_s: float = declare("messages answered per second", Unit.PER_SECOND, "host messages out/s")
    line_in_per_s: float = declare(
        "characters per second received on its lines", Unit.PER_SECOND, "host characters in/s"
    )
    line_out_per_s: float = declare("characters per second sent on its lines", Unit.PER_SECOND, "host characters out/s")
    pool_size: int = declare("capacity of its buffer pool in characters", Unit.COUNT, "buffer pool")
    pool_used: int = declare(
        "the largest number of characters that waited in the pool at once since the host started",
        Unit.COUNT,
        "buffer pool used",
    )
    servers: int = declare("number of servers", Unit.COUNT, "host servers")
    busy: float | None = declare(
        "mean number of busy servers / servers; None without servers", Unit.SHARE, "host servers busy"
    )
    queue: float | None = declare("mean number of messages that waited for a server", Unit.COUNT, "messages waiting")
    cpu: float = declare("CPU seconds per second, of the whole process", Unit.SHARE, "host process CPU")
    in_kernel: float | None = declare(
        "share of the characters between lines and programs that the host did not relay itself; None without "
        "the in-kernel path",
        Unit.SHARE,
        "characters by the in-kernel path",
        default=None,
    )
    idle: float | None = declare(
        "idle time of its threads, by the scheduler's own clock",
        Unit.SHARE,
        "front end idle",
        Better.MORE,
        default=None,
    )
    pool_free: float | None = declare(
        "mean number of characters for which its buffer pool had room",
        Unit.COUNT,
        "buffers free",
        Better.MORE,
        default=None,
    )
    pool_overflows: float | None = declare(
        "times that a line passed on less because the pool had no room", Unit.COUNT, "pool overflows", default=None
    )
    output_blocks: float | None = declare(
        "times that a line did not take all output that was due", Unit.COUNT, "output blocks", default=None
    )
    typed_per_s: float | None = declare(
        "characters per second as typed (raw), before erase and kill, without telnet",
        Unit.PER_SECOND,
        "characters typed/s",
        default=None,
    )
    taken_per_s: float | None = declare(
        "characters per second that its services took, after erase and kill, without the ends of rows",
        Unit.PER_SECOND,
        "characters taken/s",
        default=None,
    )
    written_per_s: float | None = declare(
        "characters per second that its services wrote", Unit.PER_SECOND, "characters written/s", default=None
    )
    input_conversion: float | None = declare(
        "conversion factor of input: characters that services took / characters typed", Unit.COUNT, default=None
    )
    output_conversion: float | None = declare(
        "conversion factor of output: characters on its lines, telnet included / characters written or echoed",
        Unit.COUNT,
        default=None,
    )


@figure_table
class CpuUse:
    """Percent of the host's CPUs by use. For a process or cgroup, `usr` and `sys` are its own."""

    usr: float = declare("CPU time of the host's programs", Unit.PERCENT, "host CPU, programs", column="host_usr")
    sys: float = declare("CPU time in the kernel for the host", Unit.PERCENT, "host CPU, kernel", column="host_sys")
    irq: float | None = declare(
        "CPU time in interrupts; for a process or cgroup the interrupts of the CPUs that it shares. None where the "
        "kernel does not tell them from `others`, which then includes them",
        Unit.PERCENT,
        "host CPU, interrupts",
        column="host_irq",
    )
    iowait: float = declare(
        "idle time in which a task waited for a disk",
        Unit.PERCENT,
        "host idle, waiting for disks",
        column="host_iowait",
    )
    steal: float = declare("CPU time taken by the hypervisor", Unit.PERCENT, "host CPU stolen", column="host_steal")
    idle: float = declare("idle time", Unit.PERCENT, "host idle", Better.MORE, column="host_idle")
    others: float | None = declare(
        "CPU time of everything else on its CPUs; None if the host is the whole machine", Unit.PERCENT, "others' CPU"
    )
    load: float = declare(
        "100 − idle, as `sar` has it", Unit.PERCENT, "host load", other_name="host.load", column="host_load"
    )


@figure_table
class PerTransaction:
    """What one transaction cost the host, of those counted in the interval that was metered."""

    transactions: float = declare(
        "transactions of the metered interval; a second that lies partly in it counts in proportion", Unit.COUNT
    )
    cpu_ms: float | None = declare("CPU time", Unit.MILLISECONDS, "CPU per transaction", other_name="demand")
    minor_faults: float | None = declare(
        "page faults without a disk", Unit.COUNT, "minor faults per transaction", other_name="minor_faults"
    )
    major_faults: float | None = declare(
        "page faults that waited for a disk", Unit.COUNT, "major faults per transaction"
    )
    switches: float | None = declare(
        "context switches", Unit.COUNT, "context switches per transaction", other_name="switches"
    )
    system_calls: float | None = declare(
        "system calls, counted", Unit.COUNT, "system calls per transaction", other_name="system_calls"
    )
    system_calls_estimated: float | None = declare(
        "system calls estimated from samples; None where they are counted, not sampled, or samples are too few",
        Unit.COUNT,
        "system calls per transaction, estimated",
    )
    ios: float | None = declare(
        "reads and writes of block devices", Unit.COUNT, "I/Os per transaction", other_name="ios"
    )
    of_machine: Sequence[str] = declare(
        "names of the figures that are of the whole machine, because the kernel does not count them by process"
    )


@figure_table
class Metering:
    """Where the host's figures come from."""

    source: str = declare("`here`, or where the meters ran")
    subject: str = declare("what was metered: `machine`, `pid:…`, `cgroup:…`")
    why: str = declare("why this subject was metered, or why nothing was", sentence=True)
    honesty: str = declare("how certainly the CPU figures belong to the host, in words", sentence=True)
    order: int | None = declare("the attribution level of the CPU figures, 1 (most certain) to 4 (least certain)")
    seconds: float = declare("the metered part of the measurement interval", Unit.SECONDS, "metered for")
    closes: bool | None = declare(
        "whether the separately measured parts add up to the CPUs' time; None if a part is unknown"
    )
    gaps: Sequence[str] = declare("why some readings are missing", sentence=True)
    accounting: str | None = declare("how the subject's CPU time was taken", sentence=True, default=None)
    doubt: str | None = declare("why that accounting is not to be trusted", sentence=True, default=None)
    untraced: str | None = declare("why the kernel was not traced, if that was asked for", sentence=True, default=None)


@figure_table
class HostFigures:
    """The system under test."""

    cpu: CpuUse | None = declare("Percent of the host's CPUs", better=Better.LESS)
    cpu_missing: str | None = declare("why `cpu` is missing", sentence=True)
    cpu_by_cause: Mapping[str, float] | None = declare("the host's CPU time by cause, in percent of the same CPUs")
    per_transaction: PerTransaction | None = declare("What one transaction cost the host", better=Better.LESS)
    meters: Metering | None = declare("Where the figures come from")
    sheet: Annotated[MeterReport | None, AnyJson()] = declare("the whole meter report (docs/meters.md)")
    builtin: BuiltInHost | None = declare("The built-in host by its own meters; None for any other")
    programs: Mapping[str, int] = declare("commands that lines start on this machine, and the number of users of each")
    cpu_per_keystroke: float | None = declare(
        "CPU time of the host per key that was sent in the metered interval; of a machine or of CPUs all that they "
        "did: interrupts included, and what they do without users, which with few keys may be most of it",
        Unit.SECONDS,
        "host CPU per key",
        Better.LESS,
        default=None,
    )
    per_transaction_missing: str | None = declare(
        "why `per_transaction` is missing although transactions were counted and metered", sentence=True, default=None
    )
    cpu_by_cause_se: Mapping[str, float] | None = declare(
        "the standard error of each value of `cpu_by_cause`", default=None
    )
    cpu_by_cause_interval: Mapping[str, tuple[float, float]] | None = declare(
        "the 95 % interval of each cause, also of causes without samples", default=None
    )

    @property
    def meter_report(self) -> MeterReport | None:
        """`sheet`, by the name that the rest of the code uses; `summary.json` keeps the older key."""
        return self.sheet
