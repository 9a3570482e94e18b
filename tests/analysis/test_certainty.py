"""Student's t: that of few degrees of freedom is a table."""

import pytest
from scipy.special import stdtrit

from cuesta.analysis.certainty import STUDENT, student


def test_the_table_has_the_quantiles_of_scipy() -> None:
    freedoms = range(1, len(STUDENT) + 3)
    assert list(map(student, freedoms)) == pytest.approx([stdtrit(freedom, 0.95) for freedom in freedoms], rel=1e-8)
