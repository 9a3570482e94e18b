"""`cuesta tmux`: its help, its words, and the help and the arguments of each word."""

from cuesta.cli.parser import Parser

ABOUT = """Multiplexes the small TCP segments between this host and others into few IP datagrams (TMux, RFC 1692):
`up` starts an agent on this host, `status` says what it does, `down` ends it. Each host needs an agent; to a host
without one, traffic goes as before. Connections need not know, and live on when an agent comes or goes.

It needs root, or CAP_NET_ADMIN and CAP_NET_RAW. Use it in a laboratory network or inside a tunnel: docs/tmux.md."""

EXAMPLES = """examples:
  cuesta tmux up --peer 10.0.0.7                 telnet and rlogin to and from 10.0.0.7, held for at most 20 ms
  cuesta tmux up --peer 10.0.0.7 --delay 5ms --ports 22,23
  cuesta tmux status
  cuesta tmux down
`cuesta tmux up --help` and likewise status, down show the flags of each.

docs/tmux.md says what each setting and each counter is."""

WORDS = {
    "up": (
        "start the agent of this host",
        """\
Starts the agent of this host and returns when it works. It ends by `cuesta tmux down`, or by Ctrl-C with
--foreground. Names and defaults of --delay, --max-mpx and --max-host are those of the Annex terminal server.""",
        """examples:
  cuesta tmux up --peer 10.0.0.7
  cuesta tmux up --peer 10.0.0.7 --peer fd00::7 --delay 0ms --ports all
  cuesta tmux up --peer 10.0.0.7 --udp-port 1692          for paths that drop protocol 18; the same at both ends
  cuesta tmux up --peer 10.0.0.7 --capture tmux.pcapng    all that crosses the network, for tcpdump -r""",
    ),
    "status": (
        "say what it does and has counted",
        """\
Says what the agent of this host does for whom, what it believes of its peers, and what it has counted.""",
        """examples:
  cuesta tmux status
  cuesta tmux status --json""",
    ),
    "down": (
        "end it",
        """\
Ends the agent of this host and takes back all that it has set up. Also what an agent that was killed has left
behind: rules are removed, and checks of source addresses (rp_filter) are strict again.""",
        """examples:
  cuesta tmux down""",
    ),
}
"""The words: the line of help, the help and the examples of each."""


def add_arguments(parser: Parser) -> None:
    up, status, _down = parser.add_words(WORDS)
    _add_settings(up)
    status.add_argument("--json", nargs="?", const="-", metavar="FILE|-", help="the status as data")


def _add_settings(up: Parser) -> None:
    up.add_argument(
        "--peer",
        action="append",
        required=True,
        metavar="ADDRESS",
        help="a host to multiplex with (IPv4 or IPv6); may be repeated",
    )
    up.add_argument(
        "--delay",
        metavar="D",
        help="longest time that a segment waits for others; default 20ms, at most 100ms; "
        "0ms = until nothing more is there to send",
    )
    up.add_argument(
        "--max-mpx",
        type=int,
        metavar="N",
        help="segments above N octets are sent at once, with what waits; default 700",
    )
    up.add_argument("--max-host", type=int, metavar="N", help="most peers; default 64")
    up.add_argument(
        "--ports", metavar="LIST|all", help="TCP ports, at either end, of what is multiplexed; default 23,513"
    )
    up.add_argument("--mtu", type=int, metavar="N", help="largest datagram; default what the route carries")
    up.add_argument("--udp-port", type=int, metavar="P", help="messages travel in UDP, from and to port P (ours)")
    up.add_argument("--multiplex-udp", action="store_true", help="multiplex UDP from and to the ports as well")
    up.add_argument(
        "--rfc-bypass",
        action="store_true",
        help="segments above --max-mpx go as plain IP, though it reorders connections",
    )
    up.add_argument("--interface", metavar="NAME", help="the device to the peers; default as routes say")
    up.add_argument("--device", metavar="NAME", help="name of the TUN device; default tmux0")
    up.add_argument("--capture", metavar="FILE", help="write what crosses the network to FILE (pcapng)")
    up.add_argument(
        "--user-receive", action="store_true", help="take no message apart in the kernel: the agent receives them all"
    )
    up.add_argument("--foreground", action="store_true", help="stay; end with Ctrl-C")
