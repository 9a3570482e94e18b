"""A network in which each packet goes back to who sent it, later: `mirror NETWORK SECONDS` makes the device.

What listens at NETWORK.1 is reached at NETWORK.2 from the same machine, and both ends see a peer with an address that
nothing here has: as if each were on another machine. Swapped addresses leave all checksums as they were.
"""

import asyncio
import fcntl
import os
import struct
import subprocess
import sys

TUNSETIFF = 0x4004_54CA
IFF_TUN, IFF_NO_PI = 0x0001, 0x1000
DEVICE = "mirror"
SOURCE, DESTINATION, END = 12, 16, 20
"""Offsets of the addresses in a packet of IPv4."""


def open_device(network: str) -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
    for command in (["addr", "add", f"{network}.1/24"], ["link", "set", "up"]):
        subprocess.run(["ip", *command, "dev", DEVICE], check=True)
    return device


def swap(packet: bytes) -> bytes:
    return packet[:SOURCE] + packet[DESTINATION:END] + packet[SOURCE:DESTINATION] + packet[END:]


async def main(network: str, delay: float) -> None:
    device = open_device(network)
    loop = asyncio.get_running_loop()

    def pass_on() -> None:
        loop.call_later(delay, os.write, device, swap(os.read(device, 65536)))

    loop.add_reader(device, pass_on)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], float(sys.argv[2])))
