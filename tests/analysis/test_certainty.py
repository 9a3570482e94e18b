"""Student's t."""

import pytest

from cuesta.analysis.certainty import student


@pytest.mark.parametrize(
    ("freedom", "table"),
    [(1, 6.314), (2, 2.920), (3, 2.353), (4, 2.132), (5, 2.015), (7, 1.895), (10, 1.812), (30, 1.697), (1000, 1.646)],
)
def test_students_t_is_that_of_the_tables(freedom: int, table: float) -> None:
    """One-sided 95 % (W. S. Gosset's table, in every textbook)."""
    assert student(freedom) == pytest.approx(table, abs=0.0006)
