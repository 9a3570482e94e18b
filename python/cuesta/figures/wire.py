"""The figures of the network between driver and host, where each has one of its own (`--isolate`)."""

from cuesta.figures.about import Better, Unit, declare, figure_table


@figure_table
class WireFigures:
    """Packets and bytes that crossed the wire, by the counters of the host's end. A datagram of TMux counts as one."""

    packets_per_keystroke: float = declare("packets both ways, per key that was sent", Unit.COUNT, "packets per key")
    packets_in_per_keystroke: float = declare(
        "packets that the host's end received, per key", Unit.COUNT, "packets to the host per key"
    )
    packets_out_per_keystroke: float = declare(
        "packets that the host's end sent, per key", Unit.COUNT, "packets from the host per key"
    )
    bytes_per_keystroke: float = declare(
        "bytes both ways, Ethernet headers included, per key", Unit.COUNT, "bytes on the wire per key"
    )
    dropped: int = declare("packets that either end dropped", Unit.COUNT, "packets dropped on the wire")


@figure_table
class TmuxSide:
    """The agent of TMux at one end."""

    segments_per_datagram: float | None = declare(
        "segments sent in a datagram, mean", Unit.COUNT, "segments per datagram sent by the {}"
    )
    held_mean: float | None = declare(
        "how long a segment waited for others, mean", Unit.SECONDS, "segments held at the {}, mean"
    )
    held_max: float | None = declare(
        "the longest that a segment waited", Unit.SECONDS, "segments held at the {}, longest"
    )
    plain: int | None = declare("TCP segments that went as plain IP", Unit.COUNT, "plain segments sent by the {}")
    cpu_per_keystroke: float | None = declare(
        "CPU time of the agent per key, with what the kernel did in its context",
        Unit.SECONDS,
        "TMux's CPU at the {} per key",
    )


@figure_table
class TmuxFigures:
    """What TMux did at both ends."""

    segments_per_datagram: float | None = declare(
        "segments in a datagram, mean of both ways", Unit.COUNT, "segments per datagram"
    )
    held_mean: float | None = declare(
        "how long a segment waited for others, mean of both ends", Unit.SECONDS, "segments held, mean"
    )
    plain_share: float | None = declare(
        "share of the segments of both ends that went as plain IP", Unit.SHARE, "plain segments", Better.LESS
    )
    dropped: int | None = declare(
        "packets that the kernel lost on both agents' ways in and out, such as by full queues",
        Unit.COUNT,
        "packets that TMux's agents lost",
        Better.LESS,
    )
    driver: TmuxSide = declare("The agent at the driver's end", label="driver")
    host: TmuxSide = declare("The agent at the host's end", label="host")
