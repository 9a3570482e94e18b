//! The command line for `/bin/sh -c`.

use std::borrow::Cow;
use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A command with any of these characters may be more than one program and its arguments. If they are only quoted, the shell
/// stays without need, which does no harm.
const MORE_THAN_ONE: &str = ";&|<>(){}`\n";

/// The command for `/bin/sh -c`, with `exec` before it if it is a single program. Otherwise every user would cost two processes,
/// and a signal would not reach the program.
pub(super) fn shell_command(command: &str) -> Cow<'_, str> {
    let program = command.split_whitespace().next().unwrap_or_default();
    let is_plain = program.chars().all(|c| c.is_ascii_alphanumeric() || "_./+-".contains(c));
    if is_plain && !command.contains(|c| MORE_THAN_ONE.contains(c)) && is_a_file(program) {
        Cow::Owned(format!("exec {command}"))
    } else {
        Cow::Borrowed(command)
    }
}

/// Whether a program is an executable file, and not a built-in of the shell.
fn is_a_file(program: &str) -> bool {
    if program.contains('/') {
        return is_executable(Path::new(program));
    }
    let paths = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&paths).any(|folder| is_executable(&folder.join(program)))
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_program_replaces_the_shell() {
        for command in ["cat", "sh -c 'exit 3'", "/bin/cat \"a b\" $HOME", " cat"] {
            assert_eq!(shell_command(command), format!("exec {command}"));
        }
    }

    #[test]
    fn the_shell_stays_where_it_is_needed() {
        for command in
            ["cat; cat", "cat | cat", "X=1 cat", "trap '' HUP", "no-such-program", "(cat)", "'cat' a", "/etc"]
        {
            assert_eq!(shell_command(command), command);
        }
    }
}
