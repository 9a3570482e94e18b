"""What two versions are called: what differs in their targets, and no password."""

import pytest

from cuesta.workflow.version_names import name_versions


@pytest.mark.parametrize(
    ("base", "new", "names"),
    [
        ("pty:./app-1.4 notes.txt", "pty:./app-1.5 notes.txt", ("app-1.4", "app-1.5")),
        ("pty:/opt/v1/bin/vim -u NONE", "pty:/opt/v2/bin/vim -u NONE", ("v1", "v2")),
        ("pty:app notes", "pty:app notes --new", ("notes", "notes --new")),
        ("pty:nano", "pty:vim", ("nano", "vim")),
        ("host:", "pty:cat", ("host", "pty:cat")),
        ("ssh://me:secret@old:22?identity=key", "ssh://me:secret@new:22?identity=key", ("old", "new")),
        ("telnet://h:23", "telnet://h:24", ("23", "24")),
        ("pty:app", "pty:app", ("first", "second")),
        ("ssh://me:one@h", "ssh://me:two@h", ("first", "second")),
        ("pty:a\x1b]0;x\x07", "pty:b", ("a�]0;x�", "b")),
    ],
)
def test_versions_are_named_by_what_differs(base: str, new: str, names: tuple[str, str]) -> None:
    assert name_versions(base, new) == names
