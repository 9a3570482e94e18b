"""What two versions are called: what differs in their targets, and no password."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuesta.workflow.version_names import LONGEST, name_versions

LONG = "/x/" + 45 * "a"


@pytest.mark.parametrize(
    ("base", "new", "names"),
    [
        # Other programs, and one program in two folders.
        ("pty:./app-1.4 notes.txt", "pty:./app-1.5 notes.txt", ("app-1.4", "app-1.5")),
        ("pty:vim --clean -n", "pty:emacs -nw -Q", ("vim", "emacs")),
        ("pty:node dist/app.js", "pty:bun dist/app.js", ("node", "bun")),
        ("pty:/opt/v1/bin/vim -u NONE", "pty:/opt/v2/bin/vim -u NONE", ("v1", "v2")),
        ("pty:node dist/app.js", "pty:node dist-new/app.js", ("dist", "dist-new")),
        ("pty:./app", "pty:../app", ("./app", "../app")),
        ("pty:cat", "pty:tmux new cat", ("cat", "tmux new cat")),
        # Other arguments.
        ("pty:vim --clean -n", "pty:vim --clean", ("vim --clean -n", "vim --clean")),
        ("pty:vim -n", "pty:vim -u NONE", ("vim -n", "vim -u NONE")),
        ("pty:app notes", "pty:app notes --new", ("app notes", "app notes --new")),
        ("pty:app --theme dark x", "pty:app x", ("app --theme dark x", "app x")),
        ("pty:app --delay 5 x", "pty:app --delay 30 x", ("app --delay 5", "app --delay 30")),
        ("pty:app --delay=5 x", "pty:app --delay=30 x", ("app --delay=5", "app --delay=30")),
        ("pty:python tests/slow.py 4", "pty:python tests/slow.py 29", ("slow.py 4", "slow.py 29")),
        ("pty:python3 jot.py", "pty:python3 jot.py long.txt", ("jot.py", "jot.py long.txt")),
        ("pty:node app", "pty:node app x", ("node app", "node app x")),
        ("pty:python -m app", "pty:python -m app2", ("python -m app", "python -m app2")),
        ("pty:python -X dev a.py", "pty:python a.py", ("python -X dev a.py", "python a.py")),
        ("pty:sh -c 'cd a; app' x", "pty:sh -c 'cd b; app' x", ("sh -c 'cd a; app'", "sh -c 'cd b; app'")),
        ("pty:cd a && ./app x", "pty:cd b && ./app x", ("cd a && ./app x", "cd b && ./app x")),
        ("pty:stty -echo; exec cat", "pty:exec cat", ("stty -echo; exec cat", "exec cat")),
        # What stands before a program.
        ("pty:env A=1 app x", "pty:env A=2 app x", ("env A=1 app", "env A=2 app")),
        ("pty:env A=1 app x", "pty:app x", ("env A=1 app", "app")),
        ("pty:A=1 ./app", "pty:A=2 ./app", ("A=1 app", "A=2 app")),
        ("pty:nice -n 5 vim x", "pty:vim x", ("nice -n 5 vim", "vim")),
        # Hosts.
        ("ssh://me:secret@old:22?identity=key", "ssh://me:secret@new:22?identity=key", ("old", "new")),
        ("telnet://h:23", "telnet://h:24", ("h:23", "h:24")),
        ("telnet://[::1]:23", "telnet://[::1]", ("[::1]:23", "[::1]")),
        ("ssh://me@h", "ssh://you@h", ("me@h", "you@h")),
        ("ssh://h?identity=a", "ssh://h?identity=b", ("h?identity=a", "h?identity=b")),
        ("ttyd+ws://h:1/a", "ttyd+ws://h:1/b", ("h:1/a", "h:1/b")),
        ("serial:/dev/ttyS0", "serial:/dev/ttyS1", ("ttyS0", "ttyS1")),
        # Other kinds.
        ("host:", "pty:cat", ("host", "pty:cat")),
        ("telnet://h", "ssh://h", ("telnet://h", "ssh://h")),
        # The same twice.
        ("pty:app", "pty:app", ("first", "second")),
        ("ssh://me:one@h", "ssh://me:two@h", ("first", "second")),
        # Control characters, and what is too long.
        ("pty:a\x1b]0;x\x07", "pty:b", ("a�]0;x�", "b")),
        (f"pty:{LONG}1", f"pty:{LONG}2", ("…aaaaaaaaaa1", "…aaaaaaaaaa2")),
        (f"pty:app {LONG} -s 1", f"pty:app {LONG} -s 2", ("app … -s 1", "app … -s 2")),
    ],
)
def test_versions_are_named_by_what_differs(base: str, new: str, names: tuple[str, str]) -> None:
    assert name_versions(base, new) == names


WORDS = st.lists(
    st.sampled_from(["env", "A=1", "-n", "--x", "app", "/a/app", "./app", "&&", "'a b", "b'", "/", "@", LONG, "…", "1"])
)


@given(kinds=st.tuples(*2 * [st.sampled_from(["pty:", "ssh://", "telnet://", "serial:"])]), one=WORDS, other=WORDS)
def test_no_name_is_empty_and_the_two_differ(kinds: tuple[str, str], one: list[str], other: list[str]) -> None:
    names = name_versions(kinds[0] + " ".join(one), kinds[1] + " ".join(other))
    assert all(names)
    assert names[0] != names[1]
    assert max(map(len, names)) <= LONGEST
