"""The figures of stalls: stretches in which keys of several users waited and none was echoed."""

from cuesta.figures.about import Unit, declare, figure_table


@figure_table
class Stalls:
    """Intervals in which keys of several users waited and no user's key was echoed."""

    count: int = declare(
        "stretches of at least 20 ms, and twice the quickest echo, in which keys of at least three users waited and no "
        "key of anybody was echoed",
        Unit.COUNT,
        "stalls of all",
    )
    longest: float = declare("the longest of these stretches", Unit.SECONDS, "longest stall of all")
    users: int = declare("users whose keys waited at the end of the longest", Unit.COUNT, "users in the longest stall")
    seconds: float = declare("the time of all these stretches", Unit.SECONDS, "time in stalls of all")
