import socket
from contextlib import closing
from pathlib import Path

import pytest

from cuesta.engine.local.free_ports import check_ports, count_ports, kernel_form
from cuesta.errors import CuestaError

HEAD = "  sl  local_address rem_address   st\n"
TCP = """\
   0: 0100007F:8002 00000000:0000 0A
   1: 0100007F:8000 0100007F:0017 01
   2: 0100007F:8001 0100007F:0017 06
   3: 0100007F:8003 0200007F:0017 01
   4: 0100007F:0017 0100007F:8000 01
   5: 0100007F:0400 0100007F:0017 01
"""
"""In the range: one port has a connection to port 23 here, one had one, one listens, one has another address."""


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    (tmp_path / "net").mkdir()
    ipv4 = tmp_path / "sys/net/ipv4"
    ipv4.mkdir(parents=True)
    (tmp_path / "net/tcp").write_text(HEAD + TCP)
    (ipv4 / "ip_local_port_range").write_text("32768\t32777\n")
    (ipv4 / "ip_local_reserved_ports").write_text("32776-32780,9\n")
    return tmp_path


def test_ports_are_in_use_for_one_address_or_for_all(proc: Path) -> None:
    def free(*addresses: tuple[str, int]) -> int | None:
        ports = count_ports(addresses, proc)
        return ports.free if ports else None

    assert free() == 10 - 1 - 2
    assert free(("127.0.0.1", 23)) == 10 - 1 - 2 - 1
    assert free(("127.0.0.1", 24)) == free(("::1", 23)) == 7
    assert free(("127.0.0.1", 23), ("127.0.0.2", 23)) == 6 + 6


def test_too_few_ports_are_told_with_the_range(proc: Path) -> None:
    check_ports(6, "tcp://h:23", {("127.0.0.1", 23)}, proc)
    with pytest.raises(CuestaError, match="7 lines to tcp://h:23, and 6 local ports are free for them") as raised:
        check_ports(7, "tcp://h:23", {("127.0.0.1", 23)}, proc)
    assert raised.value.remedy
    assert "sysctl" in raised.value.remedy
    check_ports(10**9, "tcp://h:23", {("127.0.0.1", 23)}, proc / "none")
    (proc / "sys/net/ipv4/ip_local_port_range").write_text("1024 65535")
    with pytest.raises(CuestaError) as raised:
        check_ports(10**9, "tcp://h:23", {("127.0.0.1", 23)}, proc)
    assert raised.value.remedy == "spread the users over more machines: --engine"


def test_addresses_are_written_as_the_kernel_writes_them() -> None:
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        with closing(socket.socket(family)) as server:
            try:
                server.bind((address, 0))
            except OSError:  # a machine without IPv6
                continue
            server.listen()
            port = server.getsockname()[1]
            table = Path("/proc/net/tcp6" if family == socket.AF_INET6 else "/proc/net/tcp").read_text()
            assert f" {kernel_form(address, port)} " in table
