"""The service of the built-in host, as a plan writes it."""

from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qs

from cuesta import _native
from cuesta.plan.reading import read_text, refuse, whole_reader
from cuesta.target import LOOPBACK

LONGEST_FORM = 1440
"""Characters that a screen has room for: `LONGEST_FORM` of crates/cuesta-host/src/services/form.rs."""
ON_REQUEST = " on request"
"""What follows the rows of `output` if it waits for a first message."""


@dataclass(frozen=True, slots=True)
class Service:
    """What the built-in host does with input: the service's name, and its one setting."""

    name: Literal["transaction", "bsc-loop", "echo", "form", "output", "shell", "socket"]
    setting: str = ""
    on_request: bool = False
    """Whether `output` waits for a first message."""

    @staticmethod
    def read(value: object) -> "Service":
        """Read `transaction 150`, `form 150`, `echo`, `output 9`, `output 9 on request`, `shell sh` or `socket cat`."""
        name, _, setting = read_text(value).partition(" ")
        match name, setting.strip():
            case "output", asked if asked.endswith(ON_REQUEST):
                return Service("output", str(whole_reader(1, 1 << 20)(asked.removesuffix(ON_REQUEST))), on_request=True)
            case ("transaction" | "form" | "output") as counted, count:
                most = LONGEST_FORM if counted == "form" else 1 << 20
                return Service(counted, str(whole_reader(1, most)(count)))
            case "echo", "":
                return Service("echo")
            case "bsc-loop", settings:
                _native.target(f"bsc://127.0.0.1:0?{settings}")
                return Service("bsc-loop", settings)
            case ("shell" | "socket") as program, command if command:
                return Service(program, command)
            case _:
                return refuse("it is none of these")

    def listen_at(self, host: str = LOOPBACK, line_speed: int | None = None) -> str:
        """Where it listens by default: a free port of an address, for the kind of lines that it serves.

        `line_speed`: that of the plan, at which both stations of a bisync line send unless the service says another.
        """
        match self.name:
            case "bsc-loop":
                own = [f"baud={line_speed}"] if line_speed and "baud" not in parse_qs(self.setting) else []
                settings = "&".join([self.setting] * bool(self.setting) + own)
                return f"bsc://{host}:0{'?' if settings else ''}{settings}"
            case "form":
                return f"tn3270://{host}:0"
            case _:
                return f"telnet://{host}:0"

    def spec(self) -> dict[str, dict[str, object]]:
        """The service as the host's specification has it."""
        match self.name:
            case "transaction" | "form":
                return {self.name: {"reply": int(self.setting)}}
            case "output":
                start = {"start": "input"} if self.on_request else {}
                return {"output": {"rows": int(self.setting), **start}}
            case "shell" | "socket":
                return {self.name: {"command": self.setting}}
            case "bsc-loop":
                return {"bsc_loop": {}}
            case "echo":
                return {"echo": {}}

    def __str__(self) -> str:
        return f"{self.name} {self.setting}{ON_REQUEST * self.on_request}".strip()
