"""`cuesta record`: its help and its arguments."""

import argparse
from pathlib import Path

ABOUT = """Runs COMMAND on a terminal, or connects to a target, and records the session. What you type becomes
NAME.tape, with your waits and think times; the whole session becomes NAME.cast, which `asciinema play`
shows. Recording ends with the program, or when you press Ctrl+] three times. Text that the screen does
not show as you type it, such as a password, is written to no file: the tape has ${password} or
${secret_1} in its place. At the end, cuesta lists what it hid and what it kept."""


EXAMPLES = """examples:
  cuesta record -- bash                            then: cuesta run bash.tape --target pty:bash --users 10
  cuesta record -o edit -- emacs -nw notes.txt     edit.tape and edit.cast
  cuesta record --target telnet://127.0.0.1:2323 -o login
  cuesta record --from demo.cast -o demo           a cast that was recorded with its keys
  cuesta record --from bash.cast --loop -o stay    users who log in once and repeat what you did

docs/record.md says how a session becomes a tape."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("command", nargs="*", metavar="-- COMMAND", help="the program to run, with its arguments")
    parser.add_argument(
        "--target", metavar="URL", help="connect there instead: ssh://, telnet://, tcp://, pty:, serial:, …"
    )
    parser.add_argument("--from", dest="source", type=Path, metavar="CAST", help="make the tape of a cast instead")
    parser.add_argument(
        "-o", "--out", metavar="NAME", help="write NAME.tape and NAME.cast; by default the program's name"
    )
    parser.add_argument("--force", action="store_true", help="overwrite existing files")
    parser.add_argument(
        "--loop", action="store_true", help="users log in once and repeat your work, with random think times"
    )
    parser.add_argument("--keep-all", action="store_true", help="hide nothing: passwords too are in the files")
    parser.add_argument("--ask-password", action="store_true", help="ask for the password of an ssh:// login")
