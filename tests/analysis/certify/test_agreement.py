"""Differences between a record and its raw files are reported with their place."""

import pytest

from cuesta.analysis.certify.agreement import list_differing_values


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-12}, []),
        ({"a": 1.0}, {"a": 1.1}, ["a: the record says 1.1, the raw files give 1.0"]),
        ({"a": 1}, {}, ["a: is missing in the record"]),
        ({}, {"b": 1}, ["b: is in the record, and cannot be derived"]),
        ({"a": [1, {"b": None}]}, {"a": [1, {"b": 2}]}, ["a[1].b: the record says 2, the raw files give nothing"]),
        ({"a": [1]}, {"a": [1, 2]}, ["a: the record says [1, 2], the raw files give [1]"]),
        ({"a": True}, {"a": 1}, ["a: the record says 1, the raw files give true"]),
    ],
)
def test_differences_are_named_by_their_place(one: object, other: object, said: list[str]) -> None:
    assert list(list_differing_values(one, other, "")) == said
