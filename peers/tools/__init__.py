"""The tools, one file each; `notes` reads what the scripts of expect and bash write."""

from peers.tools.cuesta import Cuesta
from peers.tools.expect import Expect
from peers.tools.locust import Locust
from peers.tools.ssh_loop import SshLoop
from peers.tools.tsung import Tsung

__all__ = ["Cuesta", "Expect", "Locust", "SshLoop", "Tsung"]
