"""Whose keys a value of `--path` follows."""

import pytest

from cuesta.errors import InputError
from cuesta.plan import RawOptions, load
from cuesta.plan.followed_users import count_off, read_path
from tests.conftest import Write

TWO_GROUPS = """
[[group]]
name = "clerks"
users = 60
[[group]]
name = "jobs"
users = 4
background = true
"""


@pytest.mark.parametrize(
    ("path", "meters", "followed"),
    [
        *((None, "exact", "1/30"), (None, "none,", "none"), (None, "a=auto,b=ssh://b?tier=calls", "1/30")),
        *(("auto", "plain", "none"), ("none", "exact", "none"), ("1/1", "none", "1/1"), ("jobs", "none", "jobs")),
    ],
)
def test_auto_follows_some_where_the_meters_trace(write: Write, path: str | None, meters: str, followed: str) -> None:
    own = f'path = "{path}"\n' if path else ""
    plan = write("plan.toml", f'{own}meters = "{meters.strip(",")}"\n{TWO_GROUPS}')
    assert load(RawOptions(plan=plan), plan.parent).settings.path == followed


def test_a_share_is_of_all_users_but_those_in_the_background() -> None:
    assert [count_off("1/30", "clerks", False), count_off("1/30", "jobs", True)] == [30, 0]
    assert [count_off("jobs", "clerks", False), count_off("jobs", "jobs", True)] == [0, 1]
    assert count_off("none", "clerks", False) == 0


@pytest.mark.parametrize("path", ["1/0", "2/30", "", "1/", "a group", "1/10000000"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="every 30th user is written 1/30"):
        read_path(path)


def test_a_group_that_is_missing_is_an_error_with_those_there_are(write: Write) -> None:
    plan = write("plan.toml", f'path = "clerk"\n{TWO_GROUPS}')
    with pytest.raises(InputError, match="follows a group `clerk`, and the plan has `clerks`, `jobs`; write one of"):
        load(RawOptions(plan=plan), plan.parent)
