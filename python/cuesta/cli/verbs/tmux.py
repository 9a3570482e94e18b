"""`cuesta tmux`: its help and its arguments; each of its words, such as `up`, has help of its own."""

import argparse

ABOUT = """Multiplexes the small TCP segments between this host and others into few IP datagrams (TMux, RFC 1692):
`up` starts an agent on this host, `status` says what it does, `down` ends it. Each host needs an agent; to a host
without one, traffic goes as before. Connections need not know, and live on when an agent comes or goes.

It needs root, or CAP_NET_ADMIN and CAP_NET_RAW. Use it in a laboratory network or inside a tunnel: docs/tmux.md."""

EXAMPLES = """examples:
  cuesta tmux up --peer 10.0.0.7                 telnet and rlogin to and from 10.0.0.7, held for at most 20 ms
  cuesta tmux up --peer 10.0.0.7 --delay 5ms --ports 22,23
  cuesta tmux status
  cuesta tmux down
`cuesta tmux up --help` and likewise status, down have only the flags of each.

docs/tmux.md says what each setting and each counter is."""

WORDS = {
    "up": (
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
        """\
Says what the agent of this host does for whom, what it believes of its peers, and what it has counted.""",
        """examples:
  cuesta tmux status
  cuesta tmux status --json""",
    ),
    "down": (
        """\
Ends the agent of this host and takes back all that it has set up. Also what an agent that was killed has left
behind: rules are removed, and checks of source addresses (rp_filter) are strict again.""",
        """examples:
  cuesta tmux down""",
    ),
}
"""What the verb is followed by: its help, and its examples."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("word", metavar="WORD", choices=[*WORDS], help=f"one of {', '.join(WORDS)}")
    _add_settings(parser.add_argument_group("settings of cuesta tmux up"))
    _add_json(parser)


def foreign_flags(arguments: argparse.Namespace) -> list[str]:
    """The flags that are given and do not belong to the word."""
    defaults = {word: vars(_word_parser(word).parse_args([])) for word in WORDS}
    others = {name: value for flags in defaults.values() for name, value in flags.items()}
    given = (name for name, value in others.items() if getattr(arguments, name) != value)
    return [f"--{name.replace('_', '-')}" for name in given if name not in defaults[arguments.word]]


def _word_parser(word: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(add_help=False)
    add_word_arguments(parser, word)
    return parser


def add_word_arguments(parser: argparse.ArgumentParser, word: str) -> None:
    """Add what belongs to one of `WORDS`."""
    if word == "up":
        _add_settings(parser)
    if word == "status":
        _add_json(parser)


Arguments = argparse.ArgumentParser | argparse._ArgumentGroup


def _add_settings(arguments: Arguments) -> None:
    arguments.add_argument(
        "--peer", action="append", metavar="ADDRESS", help="a host to multiplex with (IPv4 or IPv6); may be repeated"
    )
    arguments.add_argument(
        "--delay",
        metavar="D",
        help="longest time that a segment waits for others; default 20ms, at most 100ms; "
        "0ms = until nothing more is there to send",
    )
    arguments.add_argument(
        "--max-mpx",
        type=int,
        metavar="N",
        help="segments above N octets are sent at once, with what waits; default 700",
    )
    arguments.add_argument("--max-host", type=int, metavar="N", help="most peers; default 64")
    arguments.add_argument(
        "--ports", metavar="LIST|all", help="TCP ports, at either end, of what is multiplexed; default 23,513"
    )
    arguments.add_argument("--mtu", type=int, metavar="N", help="largest datagram; default what the route carries")
    arguments.add_argument(
        "--udp-port", type=int, metavar="P", help="messages travel in UDP, from and to port P (ours)"
    )
    arguments.add_argument("--multiplex-udp", action="store_true", help="multiplex UDP from and to the ports as well")
    arguments.add_argument(
        "--rfc-bypass",
        action="store_true",
        help="segments above --max-mpx go as plain IP, though it reorders connections",
    )
    arguments.add_argument("--interface", metavar="NAME", help="the device to the peers; default as routes say")
    arguments.add_argument("--device", metavar="NAME", help="name of the TUN device; default tmux0")
    arguments.add_argument("--capture", metavar="FILE", help="write what crosses the network to FILE (pcapng)")
    arguments.add_argument(
        "--user-receive", action="store_true", help="take no message apart in the kernel: the agent receives them all"
    )
    arguments.add_argument("--foreground", action="store_true", help="stay; end with Ctrl-C")


def _add_json(arguments: Arguments) -> None:
    arguments.add_argument("--json", nargs="?", const="-", metavar="FILE|-", help="the status as data")
