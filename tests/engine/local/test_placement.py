import pytest

from cuesta.engine.local.placement import may_spin


@pytest.mark.parametrize(
    ("targets", "pinned", "spins"),
    [
        ({"host:"}, False, False),
        ({"host:"}, True, True),
        ({"telnet://127.0.0.1:2399"}, False, False),
        ({"telnet://127.0.0.1:2399"}, True, True),
        ({"tcp://192.0.2.1:23"}, False, True),
        ({"tcp://192.0.2.1:23", "ssh://ann@localhost:22"}, False, False),
        # The programs are the driver's own children, on its CPUs.
        ({"pty:cat"}, True, False),
        ({"tcp://192.0.2.1:23", "pipe:cat"}, True, False),
    ],
)
def test_threads_spin_where_the_host_loses_no_cpu_time_by_it(targets: set[str], pinned: bool, spins: bool) -> None:
    assert may_spin(targets, has_own_cpus=pinned) == spins
