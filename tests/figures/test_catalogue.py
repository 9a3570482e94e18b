from pathlib import Path
from typing import Any

from cuesta.analysis.summary import summarise
from cuesta.figures import BY_NAME, CATALOGUE, Better, Unit
from cuesta.figures.catalogue import DURATIONS
from tests.run_folder import RunFolder


def test_a_figure_has_a_description() -> None:
    p95 = CATALOGUE["response.p95"]
    assert (p95.label, p95.unit, p95.better, p95.column) == ("response p95", Unit.SECONDS, Better.LESS, "response_p95")
    assert p95.meaning == (
        "From the due time of a transaction's last key to its complete answer: 95 % of the values are at most this."
    )
    assert BY_NAME["throughput"] is CATALOGUE["transactions.per_s"]
    assert "echo_from_sent" in DURATIONS


def test_names_labels_and_columns_are_unique() -> None:
    for names in (
        [figure.alias for figure in CATALOGUE.values()],
        [figure.column for figure in CATALOGUE.values()],
    ):
        assert len(set(names)) == len(names)
    assert all(figure.meaning.endswith(".") and "{}" not in figure.label for figure in CATALOGUE.values())


def test_the_dotted_name_is_the_place_of_a_figure_in_the_object(tmp_path: Path) -> None:
    summary = summarise(RunFolder(tmp_path / "run").write())
    found = summary.json()
    for name, figure in CATALOGUE.items():
        value: Any = found
        for part in name.split("."):
            value = None if value is None else value[part]
        assert figure.take_from(summary.last) == value, name
