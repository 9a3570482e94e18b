"""What is shown of a target."""

import pytest

from cuesta.target import without_passwords


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("ssh://joe:word@host:22", "ssh://joe:***@host:22"),
        ("ssh://joe:p@ss@host/path@home", "ssh://joe:***@host/path@home"),
        ("http://joe:a/b@c@host/", "http://joe:***@host/"),
        ("ssh://a:b@host1,ssh://c:d@host2", "ssh://a:***@host1,ssh://c:***@host2"),
        ("telnet://host?password=a@b&user=joe", "telnet://host?password=***&user=joe"),
        ("ws://host/?auth=a&ticket=b#frames=text", "ws://host/?auth=***&ticket=***"),
        ("ws://host/?token={token}&session={own}s", "ws://host/?token={token}&session=***"),
        ("ttyd+ws://host?token=env:OURS&arg=x", "ttyd+ws://host?token=env:OURS&arg=x"),
    ],
)
def test_a_password_is_not_shown_whatever_is_in_it(given: str, shown: str) -> None:
    assert without_passwords(given) == shown
