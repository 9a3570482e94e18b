from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from cuesta.plan import Service, fields
from cuesta.plan.fields import Load


def read(kind: Any, value: object) -> object:
    return TypeAdapter(kind).validate_python(value)


@pytest.mark.parametrize(
    ("kind", "value", "wanted"),
    [
        (fields.Duration, "200ms", 200_000_000),
        (fields.Duration, 2, 2_000_000_000),
        (fields.Users, "96", 96),
        (fields.KeyRate, "5cps", 5.0),
        (fields.KeyRate, 2, 2.0),
        (fields.KeyRate, "0cps", 0.0),
        (fields.Share, "1%", 0.01),
        (fields.OffOrDuration, "off", None),
        (fields.OffOrDuration, "0ms", 0),
        (fields.OffOrDuration, "1.25ms", 1_250_000),
        (fields.Share, 0.25, 0.25),
        (fields.Switch, "yes", True),
        (fields.Stamps, "all", 1),
        (fields.Stamps, "none", 0),
        (fields.Stamps, 16, 16),
        (fields.Bytes, "16MiB", 16 << 20),
        (fields.LoadText, "closed", Load("closed")),
        (fields.LoadText, "paced:200ms", Load("paced", cycle=200_000_000)),
        (fields.LoadText, "open:30/m", Load("open", per_s=0.5)),
        (fields.LoadText, "open:2/s:sessions", Load("open", per_s=2.0, arrivals="sessions")),
        (fields.ServiceText, "transaction 150", Service("transaction", "150")),
        (fields.ServiceText, "output 1000", Service("output", "1000")),
        (fields.ServiceText, "output 1000 on request", Service("output", "1000", on_request=True)),
        (fields.ServiceText, "shell bash -i", Service("shell", "bash -i")),
        (fields.ServiceText, "socket cat", Service("socket", "cat")),
    ],
)
def test_values_are_parsed(kind: object, value: object, wanted: object) -> None:
    assert read(kind, value) == wanted


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (fields.Duration, "-3s", "negative"),
        (fields.Duration, True, "not a duration"),
        (fields.OffOrDuration, "on", "not a duration"),
        (fields.Users, -1, "from 0 to 1,000,000"),
        (fields.Users, 96.5, "not a whole number"),
        (fields.Users, True, "not a whole number"),
        (fields.Users, 10**9, "from 0 to 1,000,000"),
        (fields.KeyRate, "-1", "from 0 to 10,000"),
        (fields.KeyRate, "0.005cps", "under 0.01"),
        (fields.KeyRate, "fast", "not a number"),
        (fields.KeyRate, "nan", "from 0"),
        (fields.Share, "130%", "from 0 to 100"),
        (fields.Switch, "perhaps", "neither"),
        (fields.LoadText, "bursty", "none of these"),
        (fields.LoadText, "paced:0s", "longer than 0"),
        (fields.LoadText, "open:30", "30/s"),
        (fields.LoadText, "open:0/s", "over 0"),
        (fields.LoadText, "open:3/s:people", "inputs"),
        (fields.ServiceText, "transaction many", "not a whole number"),
        (fields.ServiceText, "mail", "none of these"),
        (fields.StallText, "1s", "no `for`"),
        (fields.Name, "a b", "1 to 64"),
        (fields.EchoMap, "abc", "pairs"),
        (fields.DistributionText, "exq 5s", "no distribution"),
        (fields.Target, "gopher://h:1", "gopher"),
    ],
)
def test_a_refused_value_names_the_expected_one(kind: object, value: object, text: str) -> None:
    with pytest.raises(ValidationError) as raised:
        read(kind, value)
    message = raised.value.errors()[0]["msg"]
    assert message.startswith("expected ")
    assert text in message


@pytest.mark.parametrize(
    "text", ["closed", "paced:200ms", "open:2.5/s", "open:3/s:sessions", "open:8.333e-05/s", "open:1e+06/s"]
)
def test_a_load_is_shown_in_the_form_in_which_it_is_read(text: str) -> None:
    assert str(Load.read(text)) == text


def test_a_listing_on_request_is_written_as_it_is_read() -> None:
    service = Service.read("output 1000 on request")
    assert (str(service), service.spec()) == ("output 1000 on request", {"output": {"rows": 1000, "start": "input"}})
