"""What a target's ssh configuration asks for, before a line is opened. It loads no plan: `cuesta record` needs none."""

from collections.abc import Callable, Iterable, Mapping

from cuesta import _native
from cuesta.engine import passphrases
from cuesta.errors import CuestaError


def prepare_ssh(
    target: str, users: Iterable[Mapping[str, str]], warn: Callable[[str], None], ask: Callable[[str], str]
) -> None:
    """Warn of settings of the ssh configuration that have no effect; ask for the passphrases of the users' keys."""
    unused, locked = ssh_settings(target, users)
    if unused:
        warn(describe_unused(unused))
    passphrases.unlock(locked, ask)


def describe_unused(unused: Iterable[str]) -> str:
    return f"settings of the ssh configuration that Cuesta ignores: {'; '.join(unused)}"


def ssh_settings(target: str, users: Iterable[Mapping[str, str]]) -> tuple[dict[str, None], dict[str, None]]:
    """The settings of a target's ssh configuration that have no effect, and key files that need a passphrase.

    Raises CuestaError if the configuration requires what Cuesta cannot do.
    """
    by_user = {user.get("user", ""): dict(user) for user in users} or {"": {}}
    unused, locked = dict[str, None](), dict[str, None]()
    for user in by_user.values():
        try:
            settings, files = _native.ssh_preflight(target, user)
        except _native.RunError as error:
            raise CuestaError(f"{target}: {error}") from None
        unused |= dict.fromkeys(settings)
        locked |= dict.fromkeys(files)
    return unused, locked
