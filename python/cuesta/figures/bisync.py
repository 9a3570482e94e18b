"""The figures of bisync lines: what `test_bisynchronous` of 1979 printed, and what the stations counted."""

from dataclasses import dataclass
from typing import Annotated

from cuesta.figures.about import About, Better, Unit


@dataclass(frozen=True, slots=True)
class BisyncLine:
    """One user's line in the measurement interval. Characters are those of text, without framing."""

    group: Annotated[str, About("the user's group")]
    user: Annotated[int, About("the user's number")]
    sequence: Annotated[int, About("messages acknowledged since the run began")]
    received: Annotated[int, About("messages received whole in the interval")]
    characters_out: Annotated[int, About("characters of text in messages that the other station acknowledged")]
    characters_in: Annotated[int, About("characters of text received")]
    cps: Annotated[float, About("both, a second")]
    baud: Annotated[float, About("the same in bits a second, eight to a character")]


@dataclass(frozen=True, slots=True)
class BisyncCounters:
    """The eight counters that Multics' front-end processor kept of a bisync channel; of the stations at the driver."""

    invalid_input: Annotated[
        int, About("blocks with a bad block check, broken off or too long: NAKs sent", Unit.COUNT, "invalid input")
    ]
    rejected_output: Annotated[int, About("NAKs received in answer to a bid or a block", Unit.COUNT, "rejected output")]
    timeouts: Annotated[int, About("times that the other station said nothing", Unit.COUNT, "timeouts")]
    wacks_sent: Annotated[int, About("WACKs sent: no room for another block", Unit.COUNT, "WACKs sent")]
    wacks_received: Annotated[int, About("WACKs received", Unit.COUNT, "WACKs received")]
    retries_exceeded: Annotated[
        int,
        About("messages given up because a limit of NAKs, ENQs or WACKs was exceeded", Unit.COUNT, "retries exceeded"),
    ]
    bad_responses: Annotated[
        int, About("answers to a block that were missing, wrong or late", Unit.COUNT, "bad responses")
    ]
    bids_failed: Annotated[
        int, About("messages given up because no bid for the line succeeded", Unit.COUNT, "bids failed")
    ]


@dataclass(frozen=True, slots=True)
class BisyncFigures:
    """All bisync lines of the driver in the measurement interval."""

    characters_per_s: Annotated[
        float,
        About(
            "characters of text a second, sent and received counted separately: one that a line sends and another line "
            "receives counts twice, as in 1979",
            Unit.PER_SECOND,
            "bisync characters in and out/s",
            Better.MORE,
        ),
    ]
    characters_out_per_s: Annotated[
        float,
        About("characters of text acknowledged, a second", Unit.PER_SECOND, "bisync characters sent/s", Better.MORE),
    ]
    characters_in_per_s: Annotated[
        float,
        About("characters of text received, a second", Unit.PER_SECOND, "bisync characters received/s", Better.MORE),
    ]
    messages_per_s: Annotated[
        float, About("messages acknowledged, a second", Unit.PER_SECOND, "bisync messages/s", Better.MORE)
    ]
    not_delivered: Annotated[
        int, About("messages that the other station did not get", Unit.COUNT, "messages not delivered", Better.LESS)
    ]
    in_doubt: Annotated[
        int,
        About(
            "messages that the other station may have got or not: the line failed before it answered",
            Unit.COUNT,
            "messages in doubt",
            Better.LESS,
        ),
    ]
    counters: Annotated[
        BisyncCounters,
        About("The counters of a channel that the front-end processor of 1979 kept", better=Better.LESS),
    ]
    lines: Annotated[list[BisyncLine], About("each line")]
