"""What ssh starts on a node, `cuesta run --as-node`: rows of JSON on standard input and output.

    node → engine   {"node": {…}}                           first: its version of Cuesta, its machine, both addresses
    engine → node   {"check": NEEDS}                        is answered by {"lacks": […]}
                    {"agent": NUMBER, "descriptors": …}     become the node's end of an agent (`engine.remote`)

The end of the input ends it, and so does silence: whoever runs sshd need not have set that it finds a cut link.
"""

import io
import os
import select
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

from cuesta import __version__, machine
from cuesta.engine.local.node_check import find_lacks, raise_files
from cuesta.engine.node_needs import NodeNeeds
from cuesta.engine.remote.node_end import NodeEnd, start_agent
from cuesta.engine.remote.row_stream import RowStream

SILENCE_TIMEOUT = 30.0
"""Seconds without a row, even an empty one, after which the engine is taken for lost."""


class Input(io.RawIOBase):
    """A file that ends, too, when it is silent."""

    def __init__(self, file: int) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        return os.readv(self._file, [buffer]) if select.select([self._file], [], [], SILENCE_TIMEOUT)[0] else 0


def serve() -> None:
    """Serve an engine until it is gone."""
    stream = take_streams()
    stream.send({"node": describe(os.environ.get("SSH_CONNECTION", ""))})
    for row in stream.receive():
        match row:
            case {"check": needs}:
                lacks = find_lacks(NodeNeeds.from_row(needs), Path.home())
                stream.send({"lacks": [lack.as_row() for lack in lacks]})
            case {"agent": int(number), "descriptors": int(descriptors), "wanted_descriptors": int(wanted)}:
                raise_files(descriptors, wanted)
                with suppress(ConnectionError), start_agent(number) as agent:
                    NodeEnd(agent, stream).serve()
                return


def take_streams() -> RowStream:
    """Keep standard input and output for rows alone: programs that are started here neither read nor write them."""
    own_input, output = os.dup(0), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    def write(content: bytes) -> None:
        output.write(content)
        output.flush()

    return RowStream(cast(BinaryIO, io.BufferedReader(Input(own_input))), write)


def describe(connection: str) -> dict[str, Any]:
    """What the engine must know of a node. `connection` has the addresses of ssh's connection, as sshd tells them."""
    engine, _, own, _ = connection.split() or [""] * 4
    return {"version": __version__, "machine": machine.facts(), "address": own, "engine": engine}
