"""What ran beside a step's measurement interval (the plan's `beside`): how much of it, and what it took."""

from cuesta.analysis.planned import read_setting
from cuesta.figures.neighbour import NeighbourFigures
from cuesta.ledger import Recorded, StepTimes

SUCCESS = "ended with code 0"


LONGEST_COMMAND = 40
"""Characters of a command in a sentence."""


def quote_command(command: str, most: int = LONGEST_COMMAND) -> str:
    """A command as a sentence names it: on one row, cut if it is longer than `most` characters."""
    text = " ".join(command.split())
    return f"`{text if len(text) <= most else f'{text[: most - 1]}…'}`"


def describe_neighbour(recorded: Recorded, number: int, times: StepTimes, seconds: float) -> NeighbourFigures | None:
    """The neighbour of a step, of which `seconds` were measured; None if the plan has none."""
    command = read_setting(recorded, number, "beside")
    if command in (None, "None", "off"):
        return None
    ran = recorded.neighbours.get(number)
    if ran is None:
        return NeighbourFigures(str(command), 0.0, 0, None)
    end = times.settled + seconds
    both = [max(min(stop, end) - max(start, times.settled), 0.0) for start, stop in ran.runs]
    covered = ran.end - ran.begin
    failed = ran.ended not in (None, SUCCESS)
    return NeighbourFigures(
        command=str(command),
        seconds=min(sum(both), seconds),
        starts=len(ran.runs),
        cpu=ran.cpu / covered if covered > 0 else None,
        ended=ran.ended,
        said=ran.said if failed else None,
    )
