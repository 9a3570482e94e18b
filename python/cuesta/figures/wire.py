"""The figures of the network between driver and host, where each has one of its own (`--isolate`)."""

from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Better, Unit


@dataclass(frozen=True, slots=True)
class WireFigures:
    """Packets and bytes that crossed the wire, by the counters of the host's end. A datagram of TMux counts as one."""

    packets_per_keystroke: Annotated[
        float, About("packets both ways, per key that was sent", Unit.COUNT, "packets per key")
    ]
    packets_in_per_keystroke: Annotated[
        float, About("packets that the host's end received, per key", Unit.COUNT, "packets to the host per key")
    ]
    packets_out_per_keystroke: Annotated[
        float, About("packets that the host's end sent, per key", Unit.COUNT, "packets from the host per key")
    ]
    bytes_per_keystroke: Annotated[
        float, About("bytes both ways, Ethernet headers included, per key", Unit.COUNT, "bytes on the wire per key")
    ]
    dropped: Annotated[int, About("packets that either end dropped", Unit.COUNT, "packets dropped on the wire")]


@dataclass(frozen=True, slots=True)
class TmuxSide:
    """The agent of TMux at one end."""

    segments_per_datagram: Annotated[
        float | None, About("segments sent in a datagram, mean", Unit.COUNT, "segments per datagram sent by the {}")
    ]
    held_mean: Annotated[
        float | None, About("how long a segment waited for others, mean", Unit.SECONDS, "segments held at the {}, mean")
    ]
    held_max: Annotated[
        float | None, About("the longest that a segment waited", Unit.SECONDS, "segments held at the {}, longest")
    ]
    plain: Annotated[
        int | None, About("TCP segments that went as plain IP", Unit.COUNT, "plain segments sent by the {}")
    ]
    cpu_per_keystroke: Annotated[
        float | None,
        About(
            "CPU time of the agent per key, with what the kernel did in its context",
            Unit.SECONDS,
            "TMux's CPU at the {} per key",
        ),
    ]


@dataclass(frozen=True, slots=True)
class TmuxFigures:
    """What TMux did at both ends."""

    segments_per_datagram: Annotated[
        float | None, About("segments in a datagram, mean of both ways", Unit.COUNT, "segments per datagram")
    ]
    held_mean: Annotated[
        float | None,
        About("how long a segment waited for others, mean of both ends", Unit.SECONDS, "segments held, mean"),
    ]
    plain_share: Annotated[
        float | None,
        About("share of the segments of both ends that went as plain IP", Unit.SHARE, "plain segments", Better.LESS),
    ]
    dropped: Annotated[
        int | None,
        About(
            "packets that the kernel lost on both agents' ways in and out, such as by full queues",
            Unit.COUNT,
            "packets that TMux's agents lost",
            Better.LESS,
        ),
    ]
    driver: Annotated[TmuxSide, About("The agent at the driver's end", label="driver")]
    host: Annotated[TmuxSide, About("The agent at the host's end", label="host")]
