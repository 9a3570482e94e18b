"""Finding the process that listens at a port."""

import os
import socket
import subprocess
import sys

from cuesta.engine.local.listener import listener


def test_a_process_that_listens_is_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        assert listener(listening.getsockname()[1]) == os.getpid()


def test_the_parent_of_workers_that_share_a_port_is_chosen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.set_inheritable(True)
        command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, close_fds=False) as worker:
            assert listener(listening.getsockname()[1]) == os.getpid()
            assert worker.stdin
            worker.stdin.close()
