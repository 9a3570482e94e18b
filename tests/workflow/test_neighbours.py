"""What a comparison puts beside the users of one side."""

import pytest

from cuesta.workflow.neighbours import IDLE, Neighbours


@pytest.mark.parametrize(
    ("neighbours", "name", "alone"),
    [
        (Neighbours("make -j8"), "beside `make -j8`", {"beside": IDLE}),
        (Neighbours(sessions="10"), "beside 9 other sessions", {"sessions": "1"}),
        (Neighbours(sessions="2", sessions_tape="a.tape"), "beside 1 other session", None),
        (Neighbours("yes\x1b", "3"), "beside 2 other sessions and `yes\N{REPLACEMENT CHARACTER}`", None),
        (Neighbours("while :; do make clean; make; done"), "beside `while :; do make clean;…`", None),
    ],
)
def test_the_new_side_is_named_and_the_base_differs_in_nothing_else(
    neighbours: Neighbours, name: str, alone: dict[str, str] | None
) -> None:
    assert neighbours.name() == name
    assert neighbours.flags().keys() == neighbours.flags_alone().keys()
    assert alone is None or neighbours.flags_alone() == alone
