//! Why there is no ssh line, each with its name and its remedy.

use std::fmt;
use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Who a user logs in as, from the users' table.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Login {
    /// The name, where the target has none.
    pub user: Option<String>,
    /// The password; it is shown nowhere.
    pub password: Option<String>,
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let password = self.password.as_ref().map(|_| "…");
        f.debug_struct("Login").field("user", &self.user).field("password", &password).finish()
    }
}

/// Why there is no ssh line.
#[derive(Debug, Error)]
pub enum SshError {
    /// The host hung up, or said that it is full, before anybody had logged in.
    #[error(
        "{place} turned the login away before it began{}: it takes no more at once (MaxStartups, or a penalty of its own); \
         let users start further apart (--stagger), or raise MaxStartups in its sshd_config",
        in_its_words(said)
    )]
    MaxStartups {
        /// Where.
        place: String,
        /// What it said.
        said: String,
    },
    /// Something else listens there.
    #[error("{place} does not speak ssh{}: check the port, or use telnet:// or tcp://", in_its_words(said))]
    NotSsh {
        /// Where.
        place: String,
        /// What it said.
        said: String,
    },
    /// The two ends have no cipher in common, or the exchange of keys went wrong.
    #[error("no keys could be exchanged with {place} ({cause}): see its sshd_config for what it still allows")]
    Kex {
        /// Where.
        place: String,
        /// What went wrong.
        cause: String,
    },
    /// The host is in no file of known hosts.
    #[error(
        "{place} is not known: its key is {fingerprint}. Compare that with the host's own (ssh-keygen -lf on it), then log \
         in once with ssh, or add ?known_hosts=accept-new to the target (looked in {})",
        list(files)
    )]
    UnknownHost {
        /// Where.
        place: String,
        /// The key's, as OpenSSH prints it.
        fingerprint: String,
        /// Where it was looked for.
        files: Vec<PathBuf>,
    },
    /// The host has another key than the one that it is known by.
    #[error(
        "the key of {place} has changed ({fingerprint} is not the one in {}, row {row}): somebody may sit in between. If \
         the host was made anew, take its row out with ssh-keygen -R",
        file.display()
    )]
    ChangedHost {
        /// Where.
        place: String,
        /// The new key's.
        fingerprint: String,
        /// Where the old key stands.
        file: PathBuf,
        /// And in which row.
        row: usize,
    },
    /// The host's key is marked as one in wrong hands.
    #[error("the key of {place} is revoked in {}, row {row}: do not log in there", file.display())]
    RevokedHost {
        /// Where.
        place: String,
        /// Where it is said.
        file: PathBuf,
        /// And in which row.
        row: usize,
    },
    /// A new host's key could not be written down.
    #[error("the key of {place} cannot be written to {}: {cause}", file.display())]
    NotWritten {
        /// Where.
        place: String,
        /// The file of known hosts.
        file: PathBuf,
        /// Why not.
        cause: io::Error,
    },
    /// The host took none of what was offered.
    #[error("{place} let {user} not in: tried {tried}; it takes {takes}. {remedy}")]
    Auth {
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// What was tried.
        tried: String,
        /// What the host would take.
        takes: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A host's certificate is not good.
    #[error("the certificate of {place} is not good: {what}")]
    Certificate {
        /// Where.
        place: String,
        /// What is wrong with it.
        what: String,
    },
    /// A host on the way leads no further.
    #[error(
        "{place} does not lead on to {to} ({cause}): see AllowTcpForwarding in its sshd_config, and that {to} can be reached from it"
    )]
    Jump {
        /// The host on the way.
        place: String,
        /// Where it was to lead.
        to: String,
        /// What it said.
        cause: String,
    },
    /// The command that was the way ended.
    #[error(
        "the ProxyCommand `{command}` led nowhere{}: run it by hand; it should say what the host says, SSH-2.0-…",
        in_its_words(said)
    )]
    Command {
        /// The command.
        command: String,
        /// What it said.
        said: String,
    },
    /// A key file has a passphrase that nobody has given.
    #[error("{} has a passphrase: load it into the agent (ssh-add), or run Cuesta at a terminal, where it asks for it", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// A key file is no use.
    #[error("no key can be had from {}: {cause}", file.display())]
    Identity {
        /// The file.
        file: PathBuf,
        /// Why not.
        cause: String,
    },
    /// OpenSSH's configuration asks for what cannot be.
    #[error("the ssh configuration of {host}: {what}")]
    Config {
        /// The host, as the target names it.
        host: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The host opens no session.
    #[error("{place} opens no session ({cause}): see MaxSessions in its sshd_config, and what {user} may do there")]
    Channel {
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// What it said.
        cause: String,
    },
    /// The host gives no terminal.
    #[error(
        "{place} gives {user} no terminal: see PermitTTY in its sshd_config, no-pty in authorized_keys, and kernel.pty.max"
    )]
    NoPty {
        /// Where.
        place: String,
        /// Who.
        user: String,
    },
    /// The host starts no program.
    #[error("{place} starts no {what} for {user}: see the user's shell and ForceCommand in its sshd_config")]
    NoShell {
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// A shell, or the command.
        what: &'static str,
    },
    /// The line broke while the user logged in.
    #[error("{place} hung up while {user} logged in ({cause})")]
    HungUp {
        /// Where.
        place: String,
        /// Who.
        user: String,
        /// What happened.
        cause: String,
    },
}

impl SshError {
    /// The name under which it is counted.
    pub fn name(&self) -> &'static str {
        match self {
            Self::MaxStartups { .. } => "max-startups",
            Self::NotSsh { .. } => "not-ssh",
            Self::Kex { .. } => "kex",
            Self::UnknownHost { .. }
            | Self::ChangedHost { .. }
            | Self::RevokedHost { .. }
            | Self::NotWritten { .. } => "host-key",
            Self::Certificate { .. } => "host-certificate",
            Self::Jump { .. } => "jump",
            Self::Command { .. } => "proxy-command",
            Self::Auth { .. } => "auth",
            Self::Identity { .. } | Self::Locked { .. } => "identity",
            Self::Config { .. } => "ssh-config",
            Self::Channel { .. } => "channel",
            Self::NoPty { .. } => "no-pty",
            Self::NoShell { .. } => "no-shell",
            Self::HungUp { .. } => "hung-up",
        }
    }
}

fn in_its_words(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!(" (it said \"{text}\")") }
}

fn list(files: &[PathBuf]) -> String {
    files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_shown_nowhere() {
        let login = Login { user: Some("joe".to_owned()), password: Some("secret".to_owned()) };
        assert_eq!(format!("{login:?}"), r#"Login { user: Some("joe"), password: Some("…") }"#);
    }
}
