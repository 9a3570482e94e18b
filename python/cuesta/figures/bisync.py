"""The figures of bisync lines: what `test_bisynchronous` of 1979 printed, and what the stations counted."""

from cuesta.figures.about import Better, Unit, declare, figure_table


@figure_table
class BisyncLine:
    """One user's line in the measurement interval. Characters are those of text, without framing."""

    group: str = declare("the user's group")
    user: int = declare("the user's number")
    sequence: int = declare("messages acknowledged since the run began")
    received: int = declare("messages received whole in the interval")
    characters_out: int = declare("characters of text in messages that the other station acknowledged")
    characters_in: int = declare("characters of text received")
    cps: float = declare("both, a second")
    baud: float = declare("the same in bits a second, eight to a character")


@figure_table
class BisyncCounters:
    """The eight counters that Multics' front-end processor kept of a bisync channel; of the stations at the driver."""

    invalid_input: int = declare(
        "blocks with a bad block check, broken off or too long: NAKs sent", Unit.COUNT, "invalid input"
    )
    rejected_output: int = declare("NAKs received in answer to a bid or a block", Unit.COUNT, "rejected output")
    timeouts: int = declare("times that the other station said nothing", Unit.COUNT, "timeouts")
    wacks_sent: int = declare("WACKs sent: no room for another block", Unit.COUNT, "WACKs sent")
    wacks_received: int = declare("WACKs received", Unit.COUNT, "WACKs received")
    retries_exceeded: int = declare(
        "messages given up because a limit of NAKs, ENQs or WACKs was exceeded", Unit.COUNT, "retries exceeded"
    )
    bad_responses: int = declare("answers to a block that were missing, wrong or late", Unit.COUNT, "bad responses")
    bids_failed: int = declare("messages given up because no bid for the line succeeded", Unit.COUNT, "bids failed")


@figure_table
class BisyncFigures:
    """All bisync lines of the driver in the measurement interval."""

    characters_per_s: float = declare(
        "characters of text a second, sent and received counted separately: one that a line sends and another line "
        "receives counts twice, as in 1979",
        Unit.PER_SECOND,
        "bisync characters in and out/s",
        Better.MORE,
    )
    characters_out_per_s: float = declare(
        "characters of text acknowledged, a second", Unit.PER_SECOND, "bisync characters sent/s", Better.MORE
    )
    characters_in_per_s: float = declare(
        "characters of text received, a second", Unit.PER_SECOND, "bisync characters received/s", Better.MORE
    )
    messages_per_s: float = declare(
        "messages acknowledged, a second", Unit.PER_SECOND, "bisync messages/s", Better.MORE
    )
    not_delivered: int = declare(
        "messages that the other station did not get", Unit.COUNT, "messages not delivered", Better.LESS
    )
    in_doubt: int = declare(
        "messages that the other station may have got or not: the line failed before it answered",
        Unit.COUNT,
        "messages in doubt",
        Better.LESS,
    )
    counters: BisyncCounters = declare(
        "The counters of a channel that the front-end processor of 1979 kept", better=Better.LESS
    )
    lines: list[BisyncLine] = declare("each line")
