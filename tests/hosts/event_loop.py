"""One process for all users, an asyncio event loop: `event_loop PORT` gives each a shell at a terminal, `event_loop
PORT BEHIND` passes on to another port, or to `ADDRESS:PORT`.
"""

import asyncio
import os
import pty
import sys
from contextlib import suppress
from pathlib import Path

SHELL = ["bash", "--norc", "--noprofile", "-i"]


async def serve_shell(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    process, terminal = pty.fork()
    if process == 0:
        os.execvpe(SHELL[0], SHELL, {**os.environ, "PS1": "$ "})
    loop = asyncio.get_running_loop()

    def pass_on() -> None:
        try:
            writer.write(os.read(terminal, 65536))
        except OSError:
            loop.remove_reader(terminal)
            writer.close()

    loop.add_reader(terminal, pass_on)
    while typed := await reader.read(65536):
        os.write(terminal, typed)


async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    address, _, port = sys.argv[2].rpartition(":")
    there, behind = await asyncio.open_connection(address or "127.0.0.1", int(port))
    await asyncio.gather(copy(reader, behind), copy(there, writer))


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while read := await reader.read(65536):
        writer.write(read)
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(relay if len(sys.argv) > 2 else serve_shell, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    Path("/proc/self/comm").write_text("event-loop")
    with suppress(KeyboardInterrupt):
        asyncio.run(main())
