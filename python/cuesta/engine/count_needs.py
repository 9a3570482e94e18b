"""Counts what a node must have for its share of a job's users."""

from collections.abc import Callable

from cuesta.engine import passphrases
from cuesta.engine.job import Job, most_users, most_users_by_group
from cuesta.engine.node_needs import NodeNeeds, TargetNeeds
from cuesta.engine.sharing import most_users_of, share_groups
from cuesta.line_kinds import OWN_PROGRAMS, WEB, row_of, settings_of
from cuesta.plan import Group
from cuesta.target import BUILTIN_HOST, kind_of

OWN_FILES = 64
"""Descriptors that a process needs besides its lines: records, timers, libraries."""
KIB = 1024
AGENT = 24 * 1024 * KIB
"""Bytes of an agent without users. It and the figures below were measured (docs/lines.md)."""
PROGRAM = 192 * KIB
"""Bytes of the smallest program on a line, with what the kernel keeps for it."""
USER = {
    "ssh": 79 * KIB,
    "telnets": 28 * KIB,
    "tn3270": 15 * KIB,
    "tn3270s": 36 * KIB,
    **{name: (21 if name.endswith("wss") else 11) * KIB for name in WEB},
}
"""Bytes that a user on a connection takes, in the driver and in the kernel, without a screen."""
OTHER_USER = 7 * KIB
INFLATING = ("ttyd", "code-server")
"""Web terminals that compress what they send, as browsers offer there (`deflates` in `web/kinds.rs`)."""
INFLATER = 43 * KIB
"""Bytes of what inflates a user's messages."""
SCREEN = 9 * KIB
"""Bytes of a screen, and of each of its cells."""
CELL = 24
HOST_LINE = 8 * KIB
"""Bytes of a line in the built-in host."""


def count_needs(job: Job, node: int = 0) -> NodeNeeds:
    """Count what a node must have, by its number from 0. Each node tries logins as another user."""
    sharing, steps = share_groups(job.plan.steps[0].settings), [step.settings.group for step in job.plan.steps]
    agents = [agent for agent, where in enumerate(sharing.nodes) if where == node]

    def most(amount: Callable[[Group], int]) -> int:
        """The most that all groups together need in a step, `amount` for each user."""
        return max(
            sum(
                amount(group) * most_of_node(group.users, len({*agents}.intersection(players)), len(players))
                for group, players in zip(groups, sharing.players, strict=True)
            )
            for groups in steps
        )

    def lines(*kinds: str) -> int:
        return most(lambda group: kind_of(group.target) in kinds)

    def needs_of_target(target: str) -> TargetNeeds:
        group = next(group for groups in steps for group in groups if group.target == target)
        table = job.users_of(group)
        users, lines = table.first(node + 1), most(lambda group: group.target == target)
        return TargetNeeds(target, lines, users[-1] if users else {}, table.secret)

    targets = [
        needs_of_target(target) for target in dict.fromkeys(group.target for groups in steps for group in groups)
    ]
    targets = [each for each in targets if each.lines]
    by_agent = [sharing.count_users(most_users_by_group(segment)) for segment in job.plan.segments()]
    most_of_agent = max(counts[agent] for counts in by_agent for agent in agents)
    descriptors = most_of_agent * max(row_of(each.target)["descriptors"] for each in targets) + OWN_FILES
    return NodeNeeds(
        users=max(sum(counts[agent] for agent in agents) for counts in by_agent),
        descriptors=descriptors,
        terminals=lines("pty"),
        programs=lines(*OWN_PROGRAMS),
        memory=AGENT * len(agents) + most(lambda group: memory_of_user(job, group)),
        targets=targets,
        passphrases=passphrases.given(),
        wanted_descriptors=with_added_users(job, descriptors),
    )


def with_added_users(job: Job, descriptors: int) -> int:
    """The descriptors that a process wants that needs some for the users of the plan: users may be added."""
    steps = job.plan.steps
    if len(steps) > 1 or len(steps[0].settings.group) > 1:
        return descriptors
    users = steps[0].settings.group[0].users
    return OWN_FILES + -(-(descriptors - OWN_FILES) * most_users_of(users) // users)


def most_of_node(users: int, agents: int, all_agents: int) -> int:
    """The most of a group's users who are on a node that has some of all agents. Users take turns at agents."""
    rounds, rest = divmod(users, all_agents)
    return rounds * agents + min(rest, agents)


def memory_of_user(job: Job, group: Group) -> int:
    """The bytes that a user takes, estimated; of programs, what the smallest takes."""
    kind = row_of(group.target)
    own = USER.get(kind["name"], OTHER_USER) + (PROGRAM if kind["starts_program"] else 0)
    own += INFLATER if inflates(group.target) else 0
    cells = 0 if kind["terminal"] == "block" else job.tape(group).content.screen_cells(group.columns, group.rows)
    return own + (SCREEN + CELL * cells if cells else 0)


def inflates(target: str) -> bool:
    """Whether compression is offered at a web terminal whose servers take it."""
    usual = "on" if kind_of(target).partition("+")[0] in INFLATING else "off"
    return kind_of(target) in WEB and settings_of(target).get("deflate", usual) == "on"


def count_host_files(job: Job) -> int:
    """The descriptors that the built-in host needs, which runs on the engine's machine; 0 if it is not the target."""
    hosted = [step for step in job.plan.steps if any(group.target == BUILTIN_HOST for group in step.settings.group)]
    if not hosted:
        return 0
    has_programs = any(job.service(step).name in ("shell", "socket") for step in hosted)
    return most_lines(job) * (3 if has_programs else 1) + OWN_FILES


def most_lines(job: Job) -> int:
    """The most lines that are open at once."""
    return max(most_users(segment) for segment in job.plan.segments())
