"""`cuesta tmux`: starts the agent of TMux on this host, asks it, ends it."""

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from cuesta import _native
from cuesta.cli.interrupts import catch_interrupts
from cuesta.cli.output import check_json, say, write_json
from cuesta.cli.tmux_last_error import forget_last_error, keep_last_error, last_error
from cuesta.errors import CuestaError, Exit, UsageError
from cuesta.module_command import module_command
from cuesta.report.tmux_status import state_service, status_text
from cuesta.terminal import inform, show

LOOK_EVERY = 0.2
"""Seconds between looks at an agent in the foreground."""


def carry_out(arguments: argparse.Namespace) -> int:
    try:
        return {"up": _up, "status": _status, "down": _down}[arguments.word](arguments)
    except _native.RunError as error:
        raise CuestaError(f"cuesta tmux: {error}") from None


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The agent's settings that the command line gives; it knows the defaults of all others."""
    given = {"peers": arguments.peer, "delay": _delay(arguments.delay), "ports": _ports(arguments.ports)}
    numbers = ("max_mpx", "max_host", "mtu", "udp_port", "interface", "device")
    switches = {name: True for name in ("multiplex_udp", "rfc_bypass") if getattr(arguments, name)}
    given |= {name: getattr(arguments, name) for name in numbers} | switches
    if arguments.user_receive:
        given["kernel_receive"] = False
    if arguments.capture:
        given["capture"] = os.path.abspath(arguments.capture)
    return {name: value for name, value in given.items() if value is not None}


def _up(arguments: argparse.Namespace) -> int:
    spec = json.dumps(settings(arguments))
    if not arguments.foreground:
        return _start_in_background(sys.argv[1:])
    with catch_interrupts(message=None) as stopped:
        agent = _start_agent(spec)
        forget_last_error()
        show(state_service(json.loads(agent.status())))
        while not stopped.is_set() and not agent.wait(LOOK_EVERY):
            pass
        try:
            agent.stop()
        except _native.RunError as error:
            keep_last_error(str(error))
            raise
    return Exit.GOOD


def _start_agent(spec: str) -> _native.Tmux:
    try:
        return _native.Tmux.start(spec)
    except ValueError as error:
        raise UsageError(f"cuesta tmux up: {error}", "cuesta tmux up --help") from None


def _start_in_background(words: list[str]) -> int:
    """Start the same command in the foreground of a session of its own; its first row says that it works."""
    command = module_command("cuesta", *words, "--foreground")
    agent = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert agent.stdout
    assert agent.stderr
    if row := agent.stdout.readline():
        show(row, end="")
        return Exit.GOOD
    inform(agent.stderr.read(), end="")
    return agent.wait()


def _status(arguments: argparse.Namespace) -> int:
    check_json(arguments.json)
    try:
        status = json.loads(_native.tmux_status())
    except _native.RunError as error:
        last = last_error()
        raise CuestaError(f"cuesta tmux: {error}", last and f"the last one ended by itself: {last}") from None
    say(status_text(status), arguments.json)
    write_json(arguments.json, status)
    return Exit.GOOD


def _down(_arguments: argparse.Namespace) -> int:
    status = json.loads(_native.tmux_stop())
    nothing = "no agent worked here; what a killed one had left is taken back"
    show(f"ended: {state_service(status)}" if status else nothing)
    return Exit.GOOD


def _delay(text: str | None) -> int | None:
    try:
        return None if text is None else _native.duration(text)
    except ValueError as error:
        raise UsageError(f"--delay: {error}", "for example --delay 20ms") from None


def _ports(text: str | None) -> list[int] | None:
    if text in (None, "all"):
        return [] if text else None
    ports = [int(port) if port.isdecimal() else 0 for port in str(text).split(",")]
    if not all(0 < port < 65536 for port in ports):
        raise UsageError(f"--ports: expected ports from 1 to 65535 or all, got {text}", "for example --ports 23,513")
    return ports
