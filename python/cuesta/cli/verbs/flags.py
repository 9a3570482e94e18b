"""The flags of plan settings and of the built-in host: name → what the value is called, and the help.

Written by `python -m cuesta.plan.document` from the schema: change that.
"""

SETTINGS: dict[str, tuple[str, str]] = {
    "tape": ("TAPE", "the tape: a word, such as vim (`cuesta tapes` lists them), or a file"),
    "users": ("N[,N…]", "how many users; 10,50 is a sweep; groups share them in the plan's proportion"),
    "sessions": ("N[,N…]", "sessions at once: the users' own, which are typed at, and others that stream"),
    "sessions_tape": ("TAPE", "what the other sessions play; by default, at a shell, a stream of rows"),
    "target": (
        "URL",
        "what to type at: host: (the built-in one), tcp://H:P, telnet://H:P, ssh://USER@H, pty:COMMAND, …",
    ),
    "load": ("LOAD", "closed, paced:CYCLE or open:RATE"),
    "think": ("DISTRIBUTION", "think time, such as 'exp 5s'"),
    "key_rate": ("CPS", "keys a second"),
    "line_speed": ("BAUD", "speed of the lines in bits a second; 0 = as fast as the line goes"),
    "stagger": ("D", "time between the starts of two users"),
    "data": ("CSV", "users, one a row, for ${column} in the tape"),
    "seed": ("S", "one seed gives one sequence of keys and due times"),
    "settle": ("D", "time between the last start of a user and the measurement interval"),
    "measure": ("D", "length of the measurement interval"),
    "engine": ("WHERE", "where the users are: local (this machine), ray[:ADDRESS], ssh:ME@H1,ME@H2"),
    "nodes": ("N", "with --engine: over how many machines the users are spread"),
    "agents": ("N", "number of driver processes on each node; the users are divided among all of them"),
    "threads": ("N", "number of threads of each agent"),
    "pin": ("", "keep the driver and the built-in host on different CPUs"),
    "isolate": ("", "as --pin, each in a network of its own, so that CPU figures are certain (root)"),
    "tmux": ("HOLD", "with --isolate: TMux (RFC 1692) at both ends, holding segments for at most so long; off"),
    "defer": ("D", "with --isolate: how long the host's kernel may put off receiving; off"),
    "beside": ("COMMAND", "run a neighbour on this machine while measuring, such as 'make -j8'; off"),
    "meters": (
        "WHERE,…",
        "meter the host: auto, plain, exact, calls, none, machine, pid:N, cgroup:PATH, cpus:LIST, cpus:host, ssh://H, http://H:9100/metrics",
    ),
    "stamps": ("WHICH", "lines on which the kernel stamps keys too: all, none or N = every Nth"),
    "path": ("WHICH", "whose keys are followed through the host: auto, none, 1/30 = every 30th user's, or a group's"),
    "spin": ("", "keep an idle driver awake when something is due soon, so that its stamps are exact"),
    "log_transactions": ("", "record every transaction"),
    "log_keys": ("", "record every key that was echoed"),
    "cast": ("[USER]", "write what this user (0) sees as a cast, for `asciinema play`"),
}

HOST: dict[str, tuple[str, str]] = {
    "service": ("SERVICE", "what the host does with input; by default what fits the tape"),
    "input": ("HOW", "whole rows with erase and kill, or single keys; by default what the service expects"),
    "erase": ("ERASE", "the key that deletes the key before it"),
    "kill": ("KILL", "the key that deletes the row"),
    "echo": (
        "true|false",
        "whether keys are echoed; by default they are with canonical input, unless the service is `echo`",
    ),
    "echo_map": ("ECHO_MAP", "the character that each key is echoed as"),
    "service_time": ("DISTRIBUTION", "service time of a transaction at a server"),
    "servers": ("SERVERS", "number of transactions served at once"),
    "delay": ("DELAY", "exact delay of every answer, such as 5ms"),
    "stall": ("WINDOW", "a window in which the host does nothing"),
    "pool": ("POOL", "buffers of all lines together, in bytes"),
    "threads": ("THREADS", "threads, one core each"),
    "path": (
        "WHICH",
        "the way between a line and the program of the service `socket`: through the host, or within the kernel (root)",
    ),
}
