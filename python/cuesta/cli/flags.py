"""The flags of plan settings and of the built-in host: name → what the value is called, and the help.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""

SETTINGS: dict[str, tuple[str, str]] = {
    "users": (
        "N[,N…]",
        "how many users; 10,50 is a sweep; groups share them in the plan's proportion",
    ),
    "target": (
        "URL",
        "what to type at: host: (the built-in one), tcp://H:P, telnet://H:P, ssh://USER@H, pty:COMMAND, …",
    ),
    "load": (
        "LOAD",
        "closed, paced:CYCLE or open:RATE",
    ),
    "think": (
        "DISTRIBUTION",
        "think time, such as 'exp 5s'",
    ),
    "key_rate": (
        "CPS",
        "keys a second",
    ),
    "line_speed": (
        "BAUD",
        "speed of the lines; 0 = as fast as the line goes",
    ),
    "stagger": (
        "D",
        "time between the starts of two users",
    ),
    "data": (
        "CSV",
        "users, one a row, for ${column} in the tape",
    ),
    "seed": (
        "S",
        "one seed gives one sequence of keys and due times",
    ),
    "settle": (
        "D",
        "time between the last start and the measuring",
    ),
    "measure": (
        "D",
        "time of measuring",
    ),
    "agents": (
        "N",
        "processes that the users are divided over",
    ),
    "threads": (
        "N",
        "threads of each agent",
    ),
    "pin": (
        "",
        "keep the driver and the built-in host on different CPUs",
    ),
    "isolate": (
        "",
        "likewise, each in a network of its own, so that CPU figures are honest (root)",
    ),
    "meters": (
        "WHERE",
        "meter the host: auto, plain, exact, calls, none, machine, pid:N, cgroup:PATH, cpus:LIST, ssh://H, http://H:9100/metrics",
    ),
    "stamps": (
        "WHICH",
        "lines that the kernel stamps: all, none or N = every Nth",
    ),
    "log_transactions": (
        "",
        "record every transaction",
    ),
    "cast": (
        "[USER]",
        "write what this user (0) sees as a cast, for `asciinema play`",
    ),
}

HOST: dict[str, tuple[str, str]] = {
    "service": (
        "SERVICE",
        "what it does with input; by default what fits the tape",
    ),
    "input": (
        "HOW",
        "whole rows with erase and kill, or single keys; by default what the service likes",
    ),
    "erase": (
        "ERASE",
        "the key that takes back the one before",
    ),
    "kill": (
        "KILL",
        "the key that takes back the row",
    ),
    "echo": (
        "true|false",
        "whether keys are echoed; by default with canonical input, unless the service is `echo`",
    ),
    "echo_map": (
        "ECHO_MAP",
        "keys and what each is echoed as",
    ),
    "service_time": (
        "DISTRIBUTION",
        "time that a server takes for a transaction",
    ),
    "servers": (
        "SERVERS",
        "how many transactions are served at once",
    ),
    "delay": (
        "DELAY",
        "exact delay of every answer",
    ),
    "stall": (
        "WINDOW",
        "a window in which it does nothing",
    ),
    "pool": (
        "POOL",
        "buffers of all lines together, in bytes",
    ),
    "threads": (
        "THREADS",
        "threads, one core each",
    ),
}
