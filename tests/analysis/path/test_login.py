"""The rounds of a login, from the connection to the prompt."""

from collections.abc import Sequence

from cuesta.analysis.path.derive import describe_logins
from cuesta.analysis.path.join import JoinedHost, JoinedLogin
from cuesta.analysis.path.login import follow_login
from cuesta.ledger.paths import Followed
from cuesta.records.reading import from_json
from cuesta.records.rows import FollowedRow, PathRow
from tests.analysis.path.test_join import SEGMENT
from tests.followed import end_visits, hop, visit

MS = 1_000_000


def path(key: tuple[int, int], echo: tuple[int, int], begun: int, ms: int, *hops: dict[str, object]) -> PathRow:
    own = hops or (hop("on_cpu", "sshd", 1000.0 * ms),)
    row = {"port": 20_000, "key_from": key[0], "key_to": key[1], "echo_from": echo[0], "echo_to": echo[1]}
    return from_json(PathRow, row | {"begun": begun * MS, "ns": ms * MS, "whole": True, "hops": end_visits(own)})


CONNECTION = path((0, 0), (0, 41), 0, 5)
KEX = path((0, 1500), (41, 900), 7, 20)
STALE = path((0, 1500), (900, 1000), 7, 93)
PAM = path((1500, 1600), (900, 1000), 30, 70, hop("sleeping", "sshd", 65_000.0, call="poll"), *visit("sshd", 5000.0))
PROMPT = path((1600, 1700), (1000, 1040), 103, 9)
LATER = path((1700, 1701), (1040, 1041), 200, 1)
ALL = [CONNECTION, KEX, PAM, STALE, PROMPT, LATER]


def login(paths: Sequence[PathRow], took: int = 120) -> JoinedLogin:
    row = {"user_group": "g", "user": 0, "what": "login", "port": 20_000, "key": 0, "echo_from": 1000, "echo_to": 1040}
    instants = {"sent": 0, "shown": took * MS}
    return JoinedLogin(Followed(from_json(FollowedRow, row | instants), SEGMENT, 0.0, took / 1e3), paths)


def test_rounds_are_followed_back_from_the_prompt() -> None:
    rounds = follow_login(login(ALL))
    assert rounds
    assert list(rounds.rounds) == [CONNECTION, KEX, PAM, PROMPT]
    assert (rounds.host, rounds.outside, rounds.unclosed) == (104 * MS, 16 * MS, 0)


def test_without_a_path_to_the_prompt_or_from_the_connection_a_login_is_missing() -> None:
    assert follow_login(login([each for each in ALL if each is not PROMPT])) is None
    assert follow_login(login([PAM, PROMPT])) is None
    assert follow_login(login([])) is None


def test_what_is_between_two_rounds_is_not_attributed_if_a_segment_between_them_has_no_path() -> None:
    unseen = follow_login(login([CONNECTION, KEX, path((1560, 1600), (900, 1000), 30, 70), PROMPT]))
    answered_later = path((1500, 1560), (1000, 1040), 29, 90)
    seen = follow_login(login([CONNECTION, KEX, answered_later, path((1560, 1600), (900, 1000), 30, 70), PROMPT]))
    assert unseen
    assert seen
    assert (unseen.outside, unseen.unclosed) == (13 * MS, 3 * MS)
    assert (seen.outside, seen.unclosed) == (16 * MS, 0)


def test_a_login_is_told_by_kind_and_task() -> None:
    host = JoinedHost("", [], [login(ALL), login(ALL, took=140), login([])], 0, [])
    found = describe_logins(host)
    assert found
    assert (found.logins, found.missing, found.rounds) == (2, 1, 4)
    assert found.host.p50 == 0.104
    assert [(part.kind, part.task, round(part.seconds, 3), part.call) for part in found.parts] == [
        ("sleeping", "sshd", 0.065, "poll"),
        ("on_cpu", "sshd", 0.039, None),
        ("outside", "", 0.026, None),
    ]


def test_no_login_was_followed() -> None:
    assert describe_logins(JoinedHost("", [], [], 0, [])) is None
