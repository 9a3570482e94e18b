"""The figures of paths in a step: of echoes, answers and logins, at each host that was traced."""

import weakref
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean
from typing import Any

from cuesta.analysis.path.behind import find_paths, join_behind
from cuesta.analysis.path.composition import (
    describe_mean,
    describe_times,
    divide_bands,
    find_chain,
    list_parts,
    merge_hops,
    pick_slow_key,
    sum_by_kind,
)
from cuesta.analysis.path.followed_key import OUTSIDE, UNCLOSED, KeyPath
from cuesta.analysis.path.join import CONTROL_KEY, HostJoin, JoinedHost
from cuesta.analysis.path.login import LoginRounds, follow_login
from cuesta.analysis.path.price import estimate_price
from cuesta.figures.durations import Distribution
from cuesta.figures.path import AnswerPath, EchoPath, FollowedEcho, FollowedResponse, LoginPath, PathHop, PathPart
from cuesta.ledger import Recorded, StepTimes
from cuesta.ledger.paths import Followed, has_followed, name_path_files, read_followed, read_paths

ECHO, ANSWER = "echo", "answer"
FEWEST_GROUPS = 2


@dataclass(frozen=True, slots=True)
class StepPaths:
    """The figures of paths in a step; None where nothing was followed."""

    echo: EchoPath | None = None
    answer: AnswerPath | None = None
    login: LoginPath | None = None

    def add_to_echo(self, echo: Distribution) -> FollowedEcho:
        return FollowedEcho(**list_values(echo), path=self.echo)

    def add_to_response(self, response: Distribution) -> FollowedResponse:
        return FollowedResponse(**list_values(response), path=self.answer)


def list_values(durations: Distribution) -> dict[str, Any]:
    return {field.name: getattr(durations, field.name) for field in fields(Distribution)}


def derive_paths(recorded: Recorded, times: StepTimes, apart: Container[str]) -> StepPaths:
    """The figures of a step: of echoes and answers of its measurement interval, and of logins since its beginning.

    Those of groups `apart` (in the background, probes) are left out, unless only such were followed.
    """
    joined = join_run(recorded)
    is_apart_only = all(key.followed.row.user_group in apart for host in joined for key in host.keys)
    hosts = [select_step(host, times, () if is_apart_only else apart) for host in joined]
    if not hosts:
        return StepPaths()
    first = next((host for host in hosts if not host.is_behind and find_paths(host)), hosts[0])
    by_host = {host.name: describe_host(host) for host in hosts} if len(hosts) > 1 else None
    return StepPaths(describe_echoes(first, by_host), describe_answers(first), describe_logins(first))


JOINED: list[tuple["weakref.ref[Recorded]", list[JoinedHost]]] = []
"""The run that was joined last: its steps are derived one after another."""


def join_run(recorded: Recorded) -> list[JoinedHost]:
    """The followed keys of a run with their paths, for each host that has some; empty if the run followed none."""
    if not (JOINED and JOINED[0][0]() is recorded):
        own = weakref.ref(recorded, lambda _: JOINED.clear())
        JOINED[:] = [(own, list(join_hosts(recorded)) if has_followed(recorded) else [])]
    return JOINED[0][1]


def join_hosts(recorded: Recorded) -> Iterable[JoinedHost]:
    followed = list(read_followed(recorded))
    joined = [join_host(recorded, file, name, followed) for file, name in name_path_files(recorded).items()]
    return join_behind([host for host in joined if host.paths or host.counts]) or joined[:1]


def join_host(recorded: Recorded, file: str, name: str, followed: Sequence[Followed]) -> JoinedHost:
    join = HostJoin(name, followed)
    for segment, record in read_paths(recorded, file):
        join.take(segment, record)
    return join.finish()


def select_step(host: JoinedHost, times: StepTimes, apart: Container[str]) -> JoinedHost:
    """What belongs to a step."""

    def belongs(followed: Followed, begin: float) -> bool:
        return begin <= followed.shown < times.end and followed.row.user_group not in apart

    return replace(
        host,
        keys=[key for key in host.keys if belongs(key.followed, times.settled)],
        logins=[each for each in host.logins if belongs(each.followed, times.begin)],
    )


def describe_echoes(host: JoinedHost, by_host: Mapping[str, PathPart] | None) -> EchoPath | None:
    if not any(key.followed.row.what == ECHO for key in host.keys):
        return None
    own = describe_host(host)
    values = {field.name: getattr(own, field.name) for field in fields(PathPart)}
    return EchoPath(**values, hosts=by_host, groups=describe_groups(host))


def describe_groups(host: JoinedHost) -> Mapping[str, PathPart] | None:
    """Where the time of each group's keys goes; None if only one was followed."""
    names = sorted({key.followed.row.user_group for key in host.keys if key.followed.row.what == ECHO})
    if len(names) < FEWEST_GROUPS:
        return None
    keys = {name: [key for key in host.keys if key.followed.row.user_group == name] for name in names}
    return {name: describe_host(replace(host, keys=own)) for name, own in keys.items()}


def describe_host(host: JoinedHost) -> PathPart:
    """Where the time of the keys goes at a host."""
    own = [key for key in host.keys if key.followed.row.what == ECHO]
    keys = [KeyPath.from_joined(key) for key in own if key.path]
    reasons = Counter(key.missing for key in own if key.missing)
    control = reasons.pop(CONTROL_KEY, 0)
    not_shown = list(dict.fromkeys(each for counts in host.counts for each in counts.missing))
    chain, chain_keys = find_chain(keys)
    price = estimate_price(own)
    return PathPart(
        keys=len(keys),
        missing=reasons.total(),
        missing_for=dict(reasons.most_common()),
        paths=host.paths,
        control=control,
        coalesced=sum(key.is_coalesced for key in own),
        several=sum(key.answers > 1 for key in own),
        host=describe_times(key.ns for key in keys),
        outside=describe_times(key.outside for key in keys),
        unclosed=describe_times(key.unclosed for key in keys),
        price=price.estimate if price else None,
        price_low=price.low if price else None,
        price_high=price.high if price else None,
        parts=list_parts(keys) if keys else [],
        chain=chain,
        chain_keys=chain_keys,
        bands=list(divide_bands(keys)),
        slow_key=pick_slow_key(keys),
        not_shown=not_shown,
        lost=sum(counts.lost for counts in host.counts),
        **{kind: describe_times(values) for kind, values in sum_by_kind(keys, not_shown).items()},
    )


def describe_answers(host: JoinedHost) -> AnswerPath | None:
    own = [key for key in host.keys if key.followed.row.what == ANSWER]
    keys = [KeyPath.from_joined(key) for key in own if key.path]
    if not own:
        return None
    not_shown = [each for counts in host.counts for each in counts.missing]
    return AnswerPath(
        keys=len(keys),
        missing=sum(key.missing not in ("", CONTROL_KEY) for key in own),
        host=describe_times(key.ns for key in keys),
        outside=describe_times(key.outside for key in keys),
        bands=list(divide_bands(keys)),
        **{kind: describe_mean(values) for kind, values in sum_by_kind(keys, not_shown).items()},
    )


def describe_logins(host: JoinedHost) -> LoginPath | None:
    if not host.logins:
        return None
    known = [rounds for login in host.logins if (rounds := follow_login(login))]
    return LoginPath(
        logins=len(known),
        missing=len(host.logins) - len(known),
        rounds=fmean(len(login.rounds) for login in known) if known else None,
        host=describe_times(login.host for login in known),
        outside=describe_times(login.outside for login in known),
        parts=merge_logins(known),
    )


def merge_logins(known: Sequence[LoginRounds]) -> list[PathHop]:
    hops = [hop for login in known for hop in login.hops]
    rest: Mapping[str, int] = {
        OUTSIDE: sum(login.outside for login in known),
        UNCLOSED: sum(login.unclosed for login in known),
    }
    return merge_hops(hops, rest, len(known), sum(login.took for login in known)) if known else []
