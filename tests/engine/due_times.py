"""Due instants of users, whatever clock their agent has."""

from cuesta.ledger import Recorded


def due_after_start(recorded: Recorded) -> dict[int, list[int]]:
    """The due instants of each user, in nanoseconds from the start on its agent's own clock."""
    due: dict[int, list[int]] = {}
    for agent in recorded.agents:
        start_at = agent.origin.clock + agent.notes.offset
        for row in (agent.folder / "transactions.csv").read_text().splitlines()[1:]:
            user, at = row.split(",")[2:4]
            due.setdefault(int(user), []).append(int(at) - start_at)
    return due
