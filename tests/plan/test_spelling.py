from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from cuesta.plan import Load, Service, spelling


def read(kind: Any, value: object) -> object:
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        (spelling.Duration, "200ms", 200_000_000),
        (spelling.Duration, 2, 2_000_000_000),
        (spelling.Users, "96", 96),
        (spelling.KeyRate, "5cps", 5.0),
        (spelling.KeyRate, 2, 2.0),
        (spelling.KeyRate, "0cps", 0.0),
        (spelling.Share, "1%", 0.01),
        (spelling.Share, 0.25, 0.25),
        (spelling.Switch, "yes", True),
        (spelling.Stamps, "all", 1),
        (spelling.Stamps, "none", 0),
        (spelling.Stamps, 16, 16),
        (spelling.Bytes, "16MiB", 16 << 20),
        (spelling.LoadText, "closed", Load("closed")),
        (spelling.LoadText, "paced:200ms", Load("paced", cycle=200_000_000)),
        (spelling.LoadText, "open:30/m", Load("open", per_s=0.5)),
        (spelling.LoadText, "open:2/s:sessions", Load("open", per_s=2.0, arrivals="sessions")),
        (spelling.ServiceText, "transaction 150", Service("transaction", "150")),
        (spelling.ServiceText, "shell bash -i", Service("shell", "bash -i")),
    ],
)
def test_what_is_written_is_understood(kind: object, value: object, wanted: object) -> None:
    assert read(kind, value) == wanted


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (spelling.Duration, "-3s", "negative"),
        (spelling.Duration, True, "no duration"),
        (spelling.Users, -1, "from 0 to 1,000,000"),
        (spelling.Users, 96.5, "no whole number"),
        (spelling.Users, True, "no whole number"),
        (spelling.Users, 10**9, "from 0 to 1,000,000"),
        (spelling.KeyRate, "-1", "from 0 to 10,000"),
        (spelling.KeyRate, "0.005cps", "under 0.01"),
        (spelling.KeyRate, "fast", "no number"),
        (spelling.KeyRate, "nan", "from 0"),
        (spelling.Share, "130%", "from 0 to 100"),
        (spelling.Switch, "perhaps", "neither"),
        (spelling.LoadText, "bursty", "none of these"),
        (spelling.LoadText, "paced:0s", "longer than 0"),
        (spelling.LoadText, "open:30", "30/s"),
        (spelling.LoadText, "open:0/s", "over 0"),
        (spelling.LoadText, "open:3/s:people", "inputs"),
        (spelling.ServiceText, "transaction many", "no whole number"),
        (spelling.ServiceText, "mail", "none of these"),
        (spelling.StallText, "1s", "no `for`"),
        (spelling.Name, "a b", "1 to 64"),
        (spelling.EchoMap, "abc", "no pairs"),
        (spelling.Law, "exq 5s", "no law"),
        (spelling.Target, "gopher://h:1", "gopher"),
    ],
)
def test_what_will_not_do_is_told_what_was_expected(kind: object, value: object, said: str) -> None:
    with pytest.raises(ValidationError) as raised:
        read(kind, value)
    message = raised.value.errors()[0]["msg"]
    assert message.startswith("expected ")
    assert said in message


@pytest.mark.parametrize("text", ["closed", "paced:200ms", "open:2.5/s", "open:3/s:sessions"])
def test_a_load_is_shown_as_it_is_read(text: str) -> None:
    assert str(Load.read(text)) == text
