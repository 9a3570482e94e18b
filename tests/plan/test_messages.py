from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from cuesta.errors import InputError
from cuesta.plan import RawOptions, load
from tests.conftest import Write

BAD = {
    "everything at once": """
        nam = "x"
        settle = "-3s"
        limits = ["respons.p99 < 2s"]
        agents = 0
        [[group]]
        name = "clerks"
        users = -48
        think = "exq 5s"
        linespeed = 9600
        load = "paced"
        target = "ssh://joe:secret@h"
        [host]
        input = "cooked"
        service = "transaction"
        [validity]
        run_wait = 3
        """,
    "wrong shapes": """
        host = 3
        group = "x"
        limits = "throughput > 1"
        sweep = [1]
        """,
    "no groups": "group = []",
    "names twice": '[[group]]\nname = "a"\n[[group]]\nname = "a"',
    "no users at all": "users = 0",
    "no time": 'measure = "0s"',
    "published figures": """
        [[published]]
        what = "work done"
        figure = "characters.in_per_s_per_users"
        value = 1.6
        source = "a memo"
        [[published]]
        what = ""
        figure = "response.mean"
        value = 6.3
        bound = "about"
        user = 35
        """,
    "no TOML": "users = 3\nmeasure = 5s\n",
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD.keys())
def test_each_mistake_is_reported(here: Path, write: Write, text: str, snapshot: SnapshotAssertion) -> None:
    write("plan.toml", text)
    with pytest.raises(InputError) as raised:
        load(RawOptions(plan=Path("plan.toml")), here)
    assert f"{raised.value}\n  {raised.value.remedy}" == snapshot
